"""The expressions of the shipped dashboard and alerts."""

import json
import re

import service

# What Grafana puts in place of its variables.
_VARIABLES = {"$__rate_interval": "5m", "$instance": ".*"}
_SELECTOR = re.compile(r"\b(?:jackdaw_\w+|process_\w+|up\b)(?:\{[^}]*\})?")



def dashboard():
    """[(panel's title, expression)] of every query of the dashboard."""
    with open(service.source("deploy/grafana/jackdaw.json"), encoding="utf-8") as file:
        panels = json.load(file)["panels"]
    found = []
    for panel in panels:
        for target in panel.get("targets", []):
            expression = target["expr"]
            for variable, value in _VARIABLES.items():
                expression = expression.replace(variable, value)
            if "$" in expression:
                raise AssertionError(f"{panel['title']}: unknown variable in {expression}")
            found.append((panel["title"], expression))
    return found


def selectors(expression):
    """The selectors of an expression, without ranges."""
    return _SELECTOR.findall(expression)


def names(expression):
    """The metrics that an expression names."""
    return {selector.split("{")[0] for selector in selectors(expression)}
