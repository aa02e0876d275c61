#!/usr/bin/env python3
"""A real server, a known load, and a real Prometheus with the shipped configuration.

Every counter must equal the truth of the load, and every expression of the dashboard and of
the alerts must be evaluated without an error and, where there must be data, give some.
"""

import subprocess
import unittest

import exposition
import expressions
import load
import service
from prometheus import Prometheus


class PrometheusTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.maxDiff = None
        cls.server = service.Server(*load.FLAGS)
        cls.addClassCleanup(cls.server.end)
        cls.prometheus = Prometheus(cls.server.metrics)
        cls.addClassCleanup(cls.prometheus.end)
        # Rates see an increase only from a first sample on.
        service.wait_until("a scrape", lambda: cls.prometheus.value("up") == 1)
        long_job = load.begin(cls.server)
        cls.running = service.wait_until(
            "the running job",
            lambda: cls.prometheus.query('jackdaw_jobs{state="running"} == 1'),
        )
        cls.active = cls.prometheus.value("jackdaw_active_tasks")
        cls.truth = load.finish(cls.server, long_job)
        cls.told = cls.settled()

    @classmethod
    def settled(cls):
        """What Prometheus says once nothing of the load is on its way any more."""
        try:
            service.wait_until("the truth", lambda: load.told(cls.prometheus) == cls.truth)
        except AssertionError:
            pass  # A test shows the difference.
        return load.told(cls.prometheus)

    def test_every_counter_equals_the_truth_of_the_load(self):
        for entry, truth in self.truth.items():
            with self.subTest(entry):
                self.assertEqual(self.told[entry], truth)

    def test_gauges_show_the_job_that_runs(self):
        self.assertEqual(len(self.running), 1)
        self.assertEqual(self.active, 1)

    def test_worker_tasks_are_told_by_source_without_a_gap(self):
        self.assertEqual(self.told["pieces"], self.truth["pieces"])
        for source in ("own", "stolen", "injector", "mailbox", "inline"):
            count = self.prometheus.value(
                f'count(jackdaw_worker_tasks_total{{source="{source}"}})'
            )
            self.assertEqual(count, 2, source)
        count = self.prometheus.value("count(jackdaw_worker_tasks_total)")
        self.assertEqual(count, 10, "there is a source that this test does not know")
        stolen = self.prometheus.value('sum(jackdaw_worker_tasks_total{source="stolen"})')
        taken = self.prometheus.value('sum(jackdaw_worker_steals_total{outcome="taken"})')
        self.assertEqual(stolen, taken)

    def test_every_expression_of_the_dashboard_has_data(self):
        shipped = expressions.dashboard()
        self.assertGreater(len(shipped), 30)
        for title, expression in shipped:
            with self.subTest(title):
                service.wait_until(
                    f"data of {expression}", lambda e=expression: self.prometheus.query(e)
                )

    def test_every_metric_is_on_the_dashboard(self):
        text = exposition.scrape(self.server.metrics)
        told = {line.split()[2] for line in text.splitlines() if line.startswith("# TYPE ")}
        told = {name for name in told if not name.startswith("exposer_")}
        shown = set()
        for _, expression in expressions.dashboard():
            shown |= {name.removesuffix("_bucket") for name in expressions.names(expression)}
        self.assertEqual(told - shown, set())

    def test_every_alert_is_evaluated_over_metrics_that_exist(self):
        def evaluated():
            groups = self.prometheus.get("rules")["groups"]
            rules = [rule for group in groups for rule in group["rules"]]
            return rules if rules and all(r["health"] != "unknown" for r in rules) else None

        rules = service.wait_until("the evaluation of the alerts", evaluated)
        self.assertGreaterEqual(len(rules), 10)
        for rule in rules:
            with self.subTest(rule["name"]):
                self.assertEqual(rule["health"], "ok", rule.get("lastError"))
                self.prometheus.query(rule["query"])
                found = expressions.selectors(rule["query"])
                self.assertTrue(found)
                for selector in found:
                    self.assertTrue(self.prometheus.query(selector), f"no data: {selector}")

    def test_every_alert_has_a_test_of_when_it_fires(self):
        path = service.source("tests/integration/metrics/alerts_test.yaml")
        with open(path, encoding="utf-8") as file:
            tests = file.read()
        for group in self.prometheus.get("rules")["groups"]:
            for rule in group["rules"]:
                self.assertRegex(tests, rf"\b{rule['name']}\b")

    def test_a_healthy_server_raises_no_page(self):
        pages = 'ALERTS{severity="page", alertstate="firing"}'
        self.assertEqual(self.prometheus.query(pages), [])

    def test_promtool_finds_nothing_wrong_with_the_metrics(self):
        done = subprocess.run(
            ["promtool", "check", "metrics"],
            input=exposition.scrape(self.server.metrics),
            capture_output=True,
            text=True,
            check=False,
        )
        self.assertEqual((done.returncode, done.stdout, done.stderr), (0, "", ""))


class DownTest(unittest.TestCase):
    def test_a_server_that_is_gone_is_noticed(self):
        server = service.Server("--workers", "1")
        self.addCleanup(server.end)
        prometheus = Prometheus(server.metrics)
        self.addCleanup(prometheus.end)
        service.wait_until("a scrape", lambda: prometheus.value("up") == 1)
        self.assertEqual(server.end(), 0)
        service.wait_until(
            "the alert JackdawDown", lambda: prometheus.query('ALERTS{alertname="JackdawDown"}')
        )


if __name__ == "__main__":
    service.main()
