"""Debian's Prometheus with the shipped configuration, and its HTTP API."""

import json
import re
import shutil
import signal
import tempfile
import urllib.error
import urllib.parse
import urllib.request

import service

_SHIPPED_TARGET = '"127.0.0.1:9433"'
_SCRAPE_INTERVAL = "1s"


def shipped_config(target):
    """The shipped configuration, reading `target` every second."""
    with open(service.source("deploy/prometheus/prometheus.yaml"), encoding="utf-8") as file:
        text = file.read()
    if text.count(_SHIPPED_TARGET) != 1:
        raise AssertionError(f"prometheus.yaml names {_SHIPPED_TARGET} not once")
    text = text.replace(_SHIPPED_TARGET, f'"{target}"')
    return re.sub(r"(scrape_interval|evaluation_interval): \S+", rf"\1: {_SCRAPE_INTERVAL}", text)


class Prometheus(service.Process):
    """Scrapes the server at `target`, with the shipped scrape configuration and alerts."""

    def __init__(self, target):
        directory = tempfile.mkdtemp(prefix="jackdaw-prometheus-")
        config = f"{directory}/prometheus.yaml"
        with open(config, "w", encoding="utf-8") as file:
            file.write(shipped_config(target))
        shutil.copy(service.source("deploy/prometheus/alerts.yaml"), directory)
        super().__init__(
            [
                "prometheus",
                f"--config.file={config}",
                f"--storage.tsdb.path={directory}/data",
                "--web.listen-address=127.0.0.1:0",
            ],
            directory,
        )
        try:
            self._address = self.wait_for_log(r'Listening on" address=(127\.0\.0\.1:\d+)')[1]
            self.wait_for_log("Server is ready to receive web requests")
        except AssertionError:
            self.end(signal.SIGKILL)
            raise

    def get(self, path, **parameters):
        """The `data` of an answer of the HTTP API. An error fails the test."""
        url = f"http://{self._address}/api/v1/{path}?{urllib.parse.urlencode(parameters)}"
        try:
            with urllib.request.urlopen(url, timeout=30) as answer:
                return json.load(answer)["data"]
        except urllib.error.HTTPError as error:
            raise AssertionError(f"{path} {parameters}: {error.read().decode()}") from error

    def query(self, expression):
        """[(labels, value)] of an expression that gives an instant vector."""
        data = self.get("query", query=expression)
        return [(item["metric"], float(item["value"][1])) for item in data["result"]]

    def value(self, expression):
        """The value of an expression that gives one; None if it gives nothing."""
        result = self.query(expression)
        if len(result) > 1:
            raise AssertionError(f"{expression}: {result}")
        return result[0][1] if result else None
