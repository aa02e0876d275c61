"""Reads what /metrics says."""

import re
import urllib.request

_SERIES = re.compile(r"^([a-zA-Z_:][\w:]*)(\{.*\})? (\S+)$")
_LABEL = re.compile(r'(\w+)="((?:[^"\\]|\\.)*)"')


def scrape(address):
    """The text of http://`address`/metrics."""
    with urllib.request.urlopen(f"http://{address}/metrics", timeout=30) as answer:
        return answer.read().decode()


def series(text):
    """Every series of the server itself: [(name, labels, value)].

    What the exposer tells of its own scrapes is left out.
    """
    found = []
    for line in text.splitlines():
        match = _SERIES.match(line)
        if match and not match[1].startswith("exposer_"):
            found.append((match[1], dict(_LABEL.findall(match[2] or "")), float(match[3])))
    return found
