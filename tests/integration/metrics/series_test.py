#!/usr/bin/env python3
"""The number of series stays the same, whatever runs and whatever clients call things."""

import collections
import os
import shutil
import tempfile
import unittest

import grpc

import exposition
import service
import wire

_TASKS = 100_000
_NAMES = 10_000
_CALLS_AT_ONCE = 100
_CAP = 7
_OUTCOMES = 4
_PROGRAMS = 80
_PROGRAM_CAP = 64


def keys(series):
    return {(name, tuple(sorted(labels.items()))) for name, labels, _ in series}


def total(series, metric, **labels):
    """The sum of a metric's series that have these labels."""
    return sum(
        value
        for name, found, value in series
        if name == metric and labels.items() <= found.items()
    )


class SeriesTest(unittest.TestCase):
    def start(self, *flags):
        server = service.Server("--workers", "2", *flags)
        self.addCleanup(server.end)
        jobs = wire.Jobs(server.address)
        self.addCleanup(jobs.close)
        return server, jobs

    def read(self, server):
        return exposition.series(exposition.scrape(server.metrics))

    def await_jobs(self, server, count):
        """The series once so many jobs are done and counted."""

        def done():
            series = self.read(server)
            ended = total(series, "jackdaw_jobs_total")
            active = total(series, "jackdaw_active_tasks")
            return series if ended == count and active == 0 else None

        return service.wait_until(f"{count} jobs done", done)

    def test_series_are_the_same_before_during_and_after_a_job_of_100000_tasks(self):
        server, jobs = self.start()
        before = self.read(server)
        # Each task takes 20 microseconds, so that the job is seen while it runs.
        call = jobs.create(wire.create_job("spin", "20", _TASKS, "large"))

        def running():
            series = self.read(server)
            active = total(series, "jackdaw_active_tasks")
            return series if active == _TASKS else None

        during = service.wait_until("the job runs", running)
        call.result()
        after = self.await_jobs(server, 1)
        ended = total(after, "jackdaw_tasks_total", action="spin", outcome="succeeded")
        self.assertEqual(ended, _TASKS)
        self.assertEqual(keys(during), keys(before))
        self.assertEqual(keys(after), keys(before))
        code, _, errors = server.run("bench", "--tasks", str(_TASKS), "--latency-calls", "1")
        self.assertEqual(code, 0, errors)
        self.assertEqual(keys(self.read(server)), keys(before))

    def test_10000_names_add_no_more_series_than_the_cap(self):
        server, jobs = self.start("--job-name-series", str(_CAP))
        before = self.read(server)
        calls = collections.deque()
        for i in range(_NAMES):
            calls.append(jobs.create(wire.create_job("noop", display_name=f"name-{i}")))
            if len(calls) >= _CALLS_AT_ONCE:
                calls.popleft().result()
        for call in calls:
            call.result()
        after = self.await_jobs(server, _NAMES)
        added = keys(after) - keys(before)
        self.assertEqual({name for name, _ in added}, {"jackdaw_job_tasks_total"})
        self.assertEqual(len(added), _CAP * _OUTCOMES)
        self.assertEqual(keys(before) - keys(after), set())
        metric = "jackdaw_job_tasks_total"
        self.assertEqual(total(after, metric, outcome="succeeded"), _NAMES)
        self.assertEqual(total(after, metric, job_name="__other__"), _NAMES - _CAP)

    def test_programs_that_clients_choose_are_told_apart_up_to_a_cap(self):
        server, _ = self.start("--allow-commands")
        directory = tempfile.TemporaryDirectory(prefix="jackdaw-test-")
        self.addCleanup(directory.cleanup)
        tasks = []
        for i in range(_PROGRAMS):
            program = os.path.join(directory.name, f"program-{i}")
            os.symlink(shutil.which("true"), program)
            tasks.append({"id": f"own-{i}", "command": [program]})
            tasks.append({"id": f"lost-{i}", "command": [f"no-such-program-{i}"]})
        server.job("run", tasks)
        after = self.await_jobs(server, 1)
        metric = "jackdaw_tasks_total"
        programs = {
            labels["action"]
            for name, labels, _ in after
            if name == metric and labels["kind"] == "command"
        }
        self.assertEqual(len(programs), _PROGRAM_CAP + 1)
        self.assertEqual({p for p in programs if p.startswith("no-such")}, set())
        self.assertEqual(total(after, metric, kind="command"), len(tasks))
        succeeded = total(after, metric, action="__other__", outcome="succeeded")
        self.assertEqual(succeeded, _PROGRAMS - _PROGRAM_CAP)
        failed = total(after, metric, action="__other__", outcome="failed")
        self.assertEqual(failed, _PROGRAMS)

    def test_refused_jobs_are_counted(self):
        server, jobs = self.start("--max-active-jobs", "1")
        jobs.create(wire.create_job("sleep", "1h")).result()
        with self.assertRaises(grpc.RpcError) as caught:
            jobs.create(wire.create_job("noop")).result()
        self.assertEqual(caught.exception.code(), grpc.StatusCode.RESOURCE_EXHAUSTED)
        refused = service.wait_until(
            "a refused job", lambda: total(self.read(server), "jackdaw_jobs_refused_total")
        )
        self.assertEqual(refused, 1)


if __name__ == "__main__":
    service.main()
