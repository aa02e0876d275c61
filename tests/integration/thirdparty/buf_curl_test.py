#!/usr/bin/env python3
"""A client that knows nothing of Jackdaw: `buf curl` learns the methods by reflection."""

import base64
import json
import subprocess
import tempfile
import unittest

import service

_HEALTH = "grpc.health.v1.Health"
_JOBS = "jackdaw.v1.JobService"
_SERVER = "jackdaw.v1.ServerService"


class BufCurlTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.server = service.Server("--workers", "2")
        cls.addClassCleanup(cls.server.end)
        # Away from the tree, whose schema buf would find: it has to ask the server.
        cls.directory = tempfile.TemporaryDirectory(prefix="jackdaw-test-")
        cls.addClassCleanup(cls.directory.cleanup)

    def curl(self, path, *arguments):
        return subprocess.run(
            [
                service.programs.buf,
                "curl",
                "--http2-prior-knowledge",
                "--protocol=grpc",
                "--reflect",
                *arguments,
                f"http://{self.server.address}/{path}",
            ],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            cwd=self.directory.name,
            timeout=service.PATIENCE_SECONDS,
            check=False,
        )

    def call(self, method, request=None):
        """The answers of a call that succeeds."""
        done = self.curl(method, "--data", json.dumps(request or {}))
        self.assertEqual(done.returncode, 0, done.stderr)
        answers, decoder, text = [], json.JSONDecoder(), done.stdout.strip()
        while text:
            answer, end = decoder.raw_decode(text)
            answers.append(answer)
            text = text[end:].lstrip()
        return answers

    def error(self, method, request):
        """The error of a call that fails, as buf shows it."""
        done = self.curl(method, "--data", json.dumps(request))
        self.assertNotEqual(done.returncode, 0)
        return json.loads(done.stderr)

    def test_reflection_lists_every_service_and_its_methods(self):
        for protocol in ("grpc-v1", "grpc-v1alpha"):
            done = self.curl("", "--list-methods", f"--reflect-protocol={protocol}")
            self.assertEqual(done.returncode, 0, done.stderr)
            listed = done.stdout.split()
            for method in (
                f"{_HEALTH}/Check",
                f"{_JOBS}/CreateJob",
                f"{_JOBS}/RunJob",
                f"{_JOBS}/WatchJob",
                f"{_SERVER}/GetServer",
            ):
                self.assertIn(method, listed)

    def test_the_health_check_answers_for_the_server_and_for_a_service(self):
        for name in ("", _JOBS):
            (answer,) = self.call(f"{_HEALTH}/Check", {"service": name})
            self.assertEqual(answer, {"status": "SERVING"})

    def test_get_server_tells_what_it_offers(self):
        (answer,) = self.call(f"{_SERVER}/GetServer")
        self.assertIn("echo", answer["functions"])
        self.assertTrue(answer["version"])

    def test_a_job_is_created_and_read_back(self):
        tasks = [
            {"task_id": "first", "function": {"name": "echo"}, "payload": encoded("hello ")},
            {"task_id": "second", "function": {"name": "echo"}, "payload": encoded("world")},
            {
                "task_id": "both",
                "function": {"name": "concat"},
                "after": ["first", "second"],
            },
        ]
        request = {"job": {"display_name": "buf", "tasks": tasks}, "job_id": "from-buf"}
        (created,) = self.call(f"{_JOBS}/CreateJob", request)
        self.assertEqual(created["name"], "jobs/from-buf")
        *_, last = self.call(f"{_JOBS}/WatchJob", {"name": "jobs/from-buf"})
        self.assertEqual(last["job"]["state"], "STATE_SUCCEEDED")
        (job,) = self.call(f"{_JOBS}/GetJob", {"name": "jobs/from-buf"})
        self.assertEqual(job["taskCounts"], {"succeeded": "3", "total": "3"})
        (task,) = self.call(
            f"{_JOBS}/GetTask", {"name": "jobs/from-buf/tasks/both", "max_output_bytes": 100}
        )
        self.assertEqual(base64.b64decode(task["output"]), b"hello world")

    def test_run_job_streams_to_the_end(self):
        tasks = [{"function": {"name": "noop"}}, {"function": {"name": "fail"}}]
        *_, last = self.call(f"{_JOBS}/RunJob", {"job": {"tasks": tasks}})
        self.assertEqual(last["job"]["state"], "STATE_FAILED")
        self.assertEqual(last["job"]["taskCounts"], {"succeeded": "1", "failed": "1", "total": "2"})

    def test_a_method_that_does_not_exist_is_named(self):
        done = self.curl(f"{_JOBS}/NoSuchMethod", "--data", "{}")
        self.assertNotEqual(done.returncode, 0)
        self.assertIn("NoSuchMethod", done.stderr)

    def test_a_method_that_is_not_there_yet_says_so(self):
        error = self.error(f"{_JOBS}/RetryJob", {"name": "jobs/from-buf"})
        self.assertEqual(error["code"], "unimplemented")

    def test_errors_carry_code_text_and_details(self):
        error = self.error(f"{_JOBS}/GetJob", {"name": "jobs/none"})
        self.assertEqual(error["code"], "not_found")
        self.assertIn("jobs/none", error["message"])
        self.assertIn("google.rpc.ErrorInfo", [detail["type"] for detail in error["details"]])
        tasks = [{"function": {"name": "no-such-function"}}]
        error = self.error(f"{_JOBS}/CreateJob", {"job": {"tasks": tasks}})
        self.assertEqual(error["code"], "invalid_argument")
        self.assertIn("job.tasks[0].function.name", error["message"])
        self.assertIn("google.rpc.BadRequest", [detail["type"] for detail in error["details"]])


def encoded(text):
    """Bytes as JSON holds them."""
    return base64.b64encode(text.encode()).decode()


if __name__ == "__main__":
    service.main()
