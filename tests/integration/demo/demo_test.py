"""`./dev demo` as a user meets it, without the set-up and the build: tools/demo.sh."""

import os
import pathlib
import shutil
import signal
import stat
import subprocess
import tempfile
import unittest

import service

DEMO_SECONDS = 90


class DemoTest(unittest.TestCase):
    def setUp(self):
        # The demo's own directory is made in here, so what it leaves behind is seen.
        self.directory = tempfile.mkdtemp(prefix="jackdaw-demo-test-")
        self.addCleanup(shutil.rmtree, self.directory)
        self.build = str(pathlib.Path(service.programs.jackdawd).parent.parent)

    def start(self, build):
        return subprocess.Popen(
            [service.source("tools", "demo.sh"), build],
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, start_new_session=True,
            env={**os.environ, "TMPDIR": self.directory})

    def assert_nothing_left(self):
        self.assertEqual(os.listdir(self.directory), [])
        for process in pathlib.Path("/proc").glob("[0-9]*"):
            try:
                command = (process / "cmdline").read_bytes()
            except OSError:
                continue  # It has ended meanwhile.
            if b"jackdawd" in command:
                self.assertNotIn(self.directory.encode(), command)

    def test_shows_a_graph_and_its_metrics_and_ends_well(self):
        demo = self.start(self.build)
        output, _ = demo.communicate(timeout=DEMO_SECONDS)
        self.assertEqual(demo.returncode, 0, output)
        for expected in ("48 succeeded", "The commonest words:", "Distinct words: ",
                         'jackdaw_worker_steals_total{runner="', "jackdaw_worker_idle_spins_total",
                         "jackdaw_worker_queue_depth", "signal 15", "done"):
            self.assertIn(expected, output)
        self.assert_nothing_left()

    def test_interrupted_leaves_nothing_behind(self):
        demo = self.start(self.build)
        for line in demo.stdout:
            if "The graph" in line:
                break
        os.killpg(demo.pid, signal.SIGINT)
        output, _ = demo.communicate(timeout=DEMO_SECONDS)
        self.assertEqual(demo.returncode, 130, output)
        self.assert_nothing_left()

    def test_with_a_server_that_does_not_start_fails_and_says_why(self):
        server = pathlib.Path(self.directory, "build", "server", "jackdawd")
        server.parent.mkdir(parents=True)
        server.write_text("#!/bin/sh\necho the reason\nexit 1\n", encoding="utf-8")
        server.chmod(server.stat().st_mode | stat.S_IXUSR)
        demo = self.start(f"{self.directory}/build")
        output, _ = demo.communicate(timeout=DEMO_SECONDS)
        self.assertEqual(demo.returncode, 1, output)
        self.assertIn("the server ended at once", output)
        self.assertIn("the reason", output)
        shutil.rmtree(f"{self.directory}/build")
        self.assert_nothing_left()


if __name__ == "__main__":
    service.main()
