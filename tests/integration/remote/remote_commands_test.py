#!/usr/bin/env python3
"""Commands run for clients on the server's machine, never for those elsewhere.

The server runs on another machine: in a network namespace at the end of a virtual cable.
"""

import json
import subprocess
import unittest

import namespaces
import service

_RULE = "commands are only for callers on the server's own machine"
_COMMAND = [{"id": "a", "command": ["echo", "hello"]}]
_FUNCTION = [{"id": "a", "function": "echo", "payload": "hello"}]


class Server(service.Process):
    """A jackdawd elsewhere that allows any command, on its network and its loopback."""

    def __init__(self, machine):
        super().__init__(
            [
                *machine.enter,
                service.programs.jackdawd,
                "--allow-commands",
                "--metrics=off",
                "--grace=1s",
                f"--listen={namespaces.ELSEWHERE}:0",
                "--listen=127.0.0.1:0",
            ]
        )
        self._machine = machine
        self.remote, self.local = self.wait_for_log(r"listens on (\S+), (\S+)").groups()
        self.wait_for_log("commands are allowed: any program; only for clients on this machine")

    def from_here(self, *arguments, tasks=None):
        """`jackdaw` on this machine: its exit code, output and errors."""
        return self._run([], self.remote, arguments, tasks)

    def from_there(self, *arguments, tasks=None):
        """The same on the server's machine, over its loopback."""
        return self._run(self._machine.enter, self.local, arguments, tasks)

    @staticmethod
    def _run(prefix, address, arguments, tasks):
        done = subprocess.run(
            [*prefix, service.programs.jackdaw, "--server", address, *arguments],
            input=json.dumps({"name": "test", "tasks": tasks}),
            capture_output=True,
            text=True,
            timeout=service.PATIENCE_SECONDS,
            check=False,
        )
        return done.returncode, done.stdout, done.stderr


class RemoteCommandsTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        try:
            machine = namespaces.Machine()
        except namespaces.Unavailable as reason:
            raise unittest.SkipTest(f"network namespaces cannot be made: {reason}") from reason
        cls.addClassCleanup(machine.end)
        cls.server = Server(machine)
        cls.addClassCleanup(cls.server.end)

    def jobs(self):
        code, out, errors = self.server.from_there("list", "--limit", "0", "--json")
        self.assertEqual(code, 0, errors)
        return json.loads(out)["jobs"]

    def test_a_command_from_elsewhere_is_refused_and_leaves_no_job(self):
        before = len(self.jobs())
        for verb in (("run",), ("submit",), ("submit", "--validate-only")):
            code, out, errors = self.server.from_here(*verb, "-", tasks=_COMMAND)
            self.assertNotEqual(code, 0, out)
            self.assertIn("PERMISSION_DENIED", errors)
            self.assertIn("job.tasks[0].command", errors)
            self.assertIn(_RULE, errors)
        self.assertEqual(len(self.jobs()), before)

    def test_one_command_among_functions_is_refused_too(self):
        tasks = [*_FUNCTION, {"id": "b", "command": ["true"], "after": ["a"]}]
        code, _, errors = self.server.from_here("run", "-", tasks=tasks)
        self.assertNotEqual(code, 0)
        self.assertIn(f"job.tasks[1].command: {_RULE}", errors)

    def test_a_function_from_elsewhere_is_accepted(self):
        code, out, errors = self.server.from_here("run", "-", tasks=_FUNCTION)
        self.assertEqual(code, 0, errors)
        self.assertIn("hello", out)

    def test_a_command_over_the_loopback_is_accepted(self):
        code, out, errors = self.server.from_there("run", "-", tasks=_COMMAND)
        self.assertEqual(code, 0, errors)
        self.assertIn("hello", out)


if __name__ == "__main__":
    service.main()
