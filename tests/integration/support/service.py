"""Real programs for the tests of this folder: a server, the command line, bounded waits.

A test script holds unittest cases and ends with `service.main()`, which reads the
programs' paths from its arguments. What a test starts ends with the test, by its process id.
"""

import argparse
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import unittest

PATIENCE_SECONDS = 60  # The longest that a condition may take to come true.
POLL_SECONDS = 0.05
END_SECONDS = 20

programs = argparse.Namespace()


def main():
    """Runs the calling script's tests."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--jackdawd", help="the server")
    parser.add_argument("--jackdaw", help="the command line")
    parser.add_argument("--buf", help="the program of npm's @bufbuild/buf")
    parser.add_argument("--source", required=True, help="the root of the source tree")
    _, rest = parser.parse_known_args(namespace=programs)
    unittest.main(module="__main__", argv=[sys.argv[0], *rest])


def source(*path):
    """The path of a file of the source tree."""
    return os.path.join(programs.source, *path)


def wait_until(what, condition):
    """Polls until `condition()` is true and returns its value; fails naming `what`."""
    until = time.monotonic() + PATIENCE_SECONDS
    while True:
        value = condition()
        if value:
            return value
        if time.monotonic() > until:
            raise AssertionError(f"not after {PATIENCE_SECONDS} s: {what}")
        time.sleep(POLL_SECONDS)


class Process:
    """A program in the background, with a directory of its own and its output in a file."""

    def __init__(self, command, directory=None):
        self.directory = directory or tempfile.mkdtemp(prefix="jackdaw-test-")
        self._log_path = os.path.join(self.directory, "log")
        with open(self._log_path, "wb") as log:
            self._process = subprocess.Popen(
                command, stdin=subprocess.DEVNULL, stdout=log, stderr=log, cwd=self.directory
            )

    def log(self):
        with open(self._log_path, encoding="utf-8", errors="replace") as file:
            return file.read()

    def wait_for_log(self, pattern):
        """Waits for a line that matches and returns the match."""

        def found():
            match = re.search(pattern, self.log())
            if match is None and self._process.poll() is not None:
                raise AssertionError(f"ended with {self._process.returncode}:\n{self.log()}")
            return match

        return wait_until(f"{pattern} in the log:\n{self.log()}", found)

    def end(self, signal_number=signal.SIGTERM):
        """Stops the program and returns its exit code."""
        if self._process.poll() is None:
            self._process.send_signal(signal_number)
        try:
            return self._process.wait(END_SECONDS)
        except subprocess.TimeoutExpired:
            self._process.kill()
            return self._process.wait()
        finally:
            shutil.rmtree(self.directory, ignore_errors=True)


class Server(Process):
    """A jackdawd on free ports of the loopback."""

    def __init__(self, *flags):
        listen = ("--listen", "127.0.0.1:0", "--metrics", "127.0.0.1:0", "--grace", "1s")
        super().__init__([programs.jackdawd, *listen, *flags])
        try:
            self.address = self.wait_for_log(r"listens on (127\.0\.0\.1:\d+)")[1]
            self.metrics = self.wait_for_log(r"http://(127\.0\.0\.1:\d+)/metrics")[1]
            self.wait_for_log(r"commands are|jobs are kept")
        except AssertionError:
            self.end(signal.SIGKILL)
            raise

    def run(self, *arguments, stdin=""):
        """Runs `jackdaw` with these arguments; returns its exit code, output and errors."""
        done = subprocess.run(
            [programs.jackdaw, "--server", self.address, *arguments],
            input=stdin,
            capture_output=True,
            text=True,
            timeout=PATIENCE_SECONDS,
            check=False,
        )
        return done.returncode, done.stdout, done.stderr

    def job(self, verb, tasks, name="test", **fields):
        """Runs or submits a job."""
        text = json.dumps({"name": name, "tasks": tasks, **fields})
        return self.run(verb, "-", stdin=text)

    def jobs(self):
        """Every job that the server keeps, as `jackdaw list --json` shows it."""
        code, out, errors = self.run("list", "--limit", "0", "--json")
        if code != 0:
            raise AssertionError(errors)
        return json.loads(out)["jobs"]
