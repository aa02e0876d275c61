"""Two network namespaces joined by a virtual cable: a machine here and one elsewhere.

This process moves into a namespace of its own, so nothing is changed that others use, and
there is nothing to clean up: a namespace ends with the last process in it, and the cable
with its first end.
"""

import ctypes
import os
import subprocess

import service

HERE = "10.77.0.1"
ELSEWHERE = "10.77.0.2"

_LONGEST_SECONDS = "600"  # Even if the test is killed, its namespace ends.
_CLONE_NEWUSER = 0x10000000
_CLONE_NEWNET = 0x40000000


class Unavailable(Exception):
    """This machine makes no namespaces for us."""


def _unshare(flags):
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.unshare(flags) != 0:
        raise Unavailable(f"unshare: {os.strerror(ctypes.get_errno())}")


def _enter_own_namespace():
    if os.geteuid() == 0:
        _unshare(_CLONE_NEWNET)
        return
    # Whoever is not root may be so in a namespace of users.
    user, group = os.getuid(), os.getgid()
    _unshare(_CLONE_NEWUSER | _CLONE_NEWNET)
    for name, text in (
        ("setgroups", "deny"),
        ("uid_map", f"0 {user} 1"),
        ("gid_map", f"0 {group} 1"),
    ):
        with open(f"/proc/self/{name}", "w", encoding="ascii") as file:
            file.write(text)


def _run(*command):
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise Unavailable(f"{' '.join(command)}: {done.stderr.strip()}")


class Machine(service.Process):
    """The namespace elsewhere, held by a process that sleeps. `end()` ends it."""

    def __init__(self):
        _enter_own_namespace()
        super().__init__(["unshare", "--net", "sleep", _LONGEST_SECONDS])
        path = f"/proc/{self._process.pid}/ns/net"
        own = os.readlink("/proc/self/ns/net")

        def moved():
            if self._process.poll() is not None:
                raise Unavailable(self.log())
            return os.readlink(path) != own

        # What runs in it: the command that follows these words.
        self.enter = ("nsenter", f"--net={path}")
        try:
            service.wait_until("a namespace elsewhere", moved)
            self._join()
        except Unavailable:
            self.end()
            raise

    def _join(self):
        cable = ("type", "veth", "peer", "name", "there", "netns", str(self._process.pid))
        _run("ip", "link", "add", "here", *cable)
        for prefix, end, address in (((), "here", HERE), (self.enter, "there", ELSEWHERE)):
            _run(*prefix, "ip", "address", "add", f"{address}/24", "dev", end)
            _run(*prefix, "ip", "link", "set", end, "up")
            _run(*prefix, "ip", "link", "set", "lo", "up")
