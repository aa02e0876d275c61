#!/usr/bin/env python3
"""The Kubernetes manifests, against the real program.

No cluster takes part: the fields that make a pod work are checked by name, and the arguments
of each manifest start a real server, on the loopback and in a directory of the test.
"""

import os
import re
import stat
import subprocess
import tempfile
import unittest

import grpc
import yaml

import service

_SERVING = b"\x08\x01"  # grpc.health.v1.HealthCheckResponse{status: SERVING}
_APPLICATION_USER = 10002
_STRANGER = 10003


def load(name):
    with open(service.source("deploy/kubernetes", name), encoding="utf-8") as file:
        return {document["kind"]: document for document in yaml.safe_load_all(file)}


def seconds(text):
    match = re.fullmatch(r"(\d+)s", text)
    if match is None:
        raise AssertionError(f"not in seconds: {text}")
    return int(match[1])


def flags(container):
    """{"--listen": "0.0.0.0:7433", ...} of a container's arguments."""
    return dict(argument.split("=", 1) for argument in container["args"])


def health(address):
    """The answer of the health service there, as bytes, or the code of the error."""
    with grpc.insecure_channel(address) as channel:
        check = channel.unary_unary("/grpc.health.v1.Health/Check")
        try:
            return check(b"", timeout=10, wait_for_ready=True)
        except grpc.RpcError as error:
            return error.code()


def port_of(address):
    return int(address.rsplit(":", 1)[1])


class PodChecks:
    """What both pods have in common. `pod`, `metadata` and `container` are the subclass's."""

    def test_probes_ask_the_health_listener_over_grpc(self):
        address = flags(self.container)["--health"]
        self.assertTrue(address.startswith("0.0.0.0:"), "a kubelet does not reach the loopback")
        for probe in ("startupProbe", "readinessProbe", "livenessProbe"):
            self.assertEqual(self.container[probe]["grpc"]["port"], port_of(address), probe)

    def test_annotations_and_ports_name_the_addresses_that_are_served(self):
        annotations = self.metadata["annotations"]
        self.assertEqual(annotations["prometheus.io/scrape"], "true")
        self.assertEqual(annotations["prometheus.io/path"], "/metrics")
        port = port_of(flags(self.container)["--metrics"])
        self.assertEqual(annotations["prometheus.io/port"], str(port))
        served = {
            name: port_of(flags(self.container)[flag])
            for name, flag in (("grpc", "--listen"), ("health", "--health"), ("metrics", "--metrics"))
            if not flags(self.container)[flag].startswith("unix:")
        }
        ports = {port["name"]: port["containerPort"] for port in self.container["ports"]}
        self.assertEqual(ports, served)

    def test_the_pod_waits_longer_than_the_server_does(self):
        grace = seconds(flags(self.container)["--grace"])
        # Commands get 5 s to end after that, and calls a moment.
        self.assertGreater(self.pod["terminationGracePeriodSeconds"], grace + 5 + 2)

    def test_every_container_is_confined(self):
        self.assertIs(self.pod["securityContext"]["runAsNonRoot"], True)
        self.assertEqual(self.pod["securityContext"]["seccompProfile"]["type"], "RuntimeDefault")
        self.assertIs(self.pod["automountServiceAccountToken"], False)
        for container in self.pod.get("initContainers", []) + self.pod["containers"]:
            context = container["securityContext"]
            self.assertIs(context["allowPrivilegeEscalation"], False)
            self.assertIs(context["readOnlyRootFilesystem"], True)
            self.assertEqual(context["capabilities"], {"drop": ["ALL"]})
            user = context.get("runAsUser", self.pod["securityContext"].get("runAsUser"))
            self.assertGreater(user, 0)
            for kind in ("requests", "limits"):
                self.assertEqual(set(container["resources"][kind]), {"cpu", "memory"})

    def test_there_are_as_many_workers_as_cpus(self):
        self.assertEqual(
            flags(self.container)["--workers"], self.container["resources"]["limits"]["cpu"]
        )

    def test_the_arguments_start_a_server_that_passes_its_probe(self):
        server = self.start()
        self.assertEqual(health(server.health), _SERVING)

    def start(self, **options):
        """The container's command with its arguments, but free ports and `self.socket`."""
        self.assertEqual(self.container["command"], ["jackdawd"])
        arguments = [self.local(argument) for argument in self.container["args"]]
        server = service.Process([service.programs.jackdawd, *arguments], **options)
        self.addCleanup(server.end)
        server.health = server.wait_for_log(r"health alone is on \S+?:(\d+)")[1]
        server.health = f"127.0.0.1:{server.health}"
        server.wait_for_log("commands are")
        return server

    def local(self, argument):
        argument = re.sub(r"0\.0\.0\.0:\d+", "127.0.0.1:0", argument)
        return argument.replace("/run/jackdaw", self.directory)

    def setUp(self):
        self.directory = tempfile.mkdtemp(prefix="jackdaw-test-")
        self.addCleanup(subprocess.run, ["rm", "-rf", self.directory], check=True)


class DeploymentTest(PodChecks, unittest.TestCase):
    def setUp(self):
        super().setUp()
        self.documents = load("deployment.yaml")
        template = self.documents["Deployment"]["spec"]["template"]
        self.metadata, self.pod = template["metadata"], template["spec"]
        (self.container,) = self.pod["containers"]

    def test_the_health_listener_serves_nothing_else(self):
        server = self.start()
        with grpc.insecure_channel(server.health) as channel:
            call = channel.unary_unary("/jackdaw.v1.ServerService/GetServer")
            with self.assertRaises(grpc.RpcError) as caught:
                call(b"", timeout=10, wait_for_ready=True)
        self.assertEqual(caught.exception.code(), grpc.StatusCode.UNIMPLEMENTED)

    def test_service_and_network_policy_name_this_pod_and_its_ports(self):
        deployment = self.documents["Deployment"]["spec"]
        labels = self.metadata["labels"]
        self.assertEqual(deployment["selector"]["matchLabels"], labels)
        exposed = self.documents["Service"]["spec"]
        self.assertEqual(exposed["selector"], labels)
        ports = {port["name"]: port["containerPort"] for port in self.container["ports"]}
        for port in exposed["ports"]:
            self.assertEqual(port["port"], ports[port["targetPort"]])
        policy = self.documents["NetworkPolicy"]["spec"]
        self.assertEqual(policy["podSelector"]["matchLabels"], labels)
        allowed = [port["port"] for rule in policy["ingress"] for port in rule["ports"]]
        self.assertEqual(sorted(allowed), sorted(ports))

    def test_there_are_never_two_servers_behind_the_name(self):
        deployment = self.documents["Deployment"]["spec"]
        self.assertEqual(deployment["replicas"], 1)
        self.assertEqual(deployment["strategy"]["type"], "Recreate")


class SidecarTest(PodChecks, unittest.TestCase):
    def setUp(self):
        super().setUp()
        pod = load("sidecar-pod.yaml")["Pod"]
        self.metadata, self.pod = pod["metadata"], pod["spec"]
        (self.container,) = self.pod["initContainers"]
        (self.application,) = self.pod["containers"]
        self.socket = os.path.join(self.directory, "jackdaw.sock")

    def test_the_server_is_a_native_sidecar(self):
        self.assertEqual(self.container["restartPolicy"], "Always")

    def test_both_containers_share_the_sockets_directory(self):
        (volume,) = self.pod["volumes"]
        self.assertIn("emptyDir", volume)
        for container in (self.container, self.application):
            self.assertEqual(
                container["volumeMounts"], [{"name": volume["name"], "mountPath": "/run/jackdaw"}]
            )
        (variable,) = self.application["env"]
        self.assertEqual(variable["name"], "JACKDAW_SERVER")
        self.assertEqual(variable["value"], flags(self.container)["--listen"])

    def test_the_two_run_under_different_users_of_one_group(self):
        users = [c["securityContext"]["runAsUser"] for c in (self.container, self.application)]
        self.assertEqual(users[1], _APPLICATION_USER)
        self.assertNotEqual(users[0], users[1])
        self.assertGreater(self.pod["securityContext"]["fsGroup"], 0)

    def test_the_socket_is_open_to_its_directorys_group_and_to_no_one_else(self):
        # A volume with fsGroup is a directory of that group, with the bit that hands it on.
        root = os.geteuid() == 0
        group = self.pod["securityContext"]["fsGroup"] if root else os.getegid()
        os.chown(self.directory, -1, group)
        os.chmod(self.directory, 0o2777)
        self.start()
        found = os.stat(self.socket)
        self.assertTrue(stat.S_ISSOCK(found.st_mode))
        self.assertEqual(stat.S_IMODE(found.st_mode), 0o660)
        self.assertEqual(found.st_gid, group)
        if root:  # Nobody else can become two users.
            self.assertEqual(self.list_as(_APPLICATION_USER, [group]), 0)
            self.assertEqual(self.list_as(_STRANGER, []), 3)

    def list_as(self, user, groups):
        """The exit code of `jackdaw list` as that user."""
        with open(service.programs.jackdaw, "rb") as program:
            # By descriptor: the user may have no way to the build directory.
            return subprocess.run(
                [f"/proc/self/fd/{program.fileno()}", "--server", f"unix:{self.socket}", "list"],
                user=user,
                group=user,
                extra_groups=groups,
                pass_fds=[program.fileno()],
                cwd="/",
                capture_output=True,
                timeout=service.PATIENCE_SECONDS,
                check=False,
            ).returncode

    def test_a_restarted_sidecar_takes_its_socket_over(self):
        self.start().end(9)
        self.assertTrue(os.path.exists(self.socket))
        self.start()
        code = subprocess.run(
            [service.programs.jackdaw, "--server", f"unix:{self.socket}", "list"],
            capture_output=True,
            timeout=service.PATIENCE_SECONDS,
            check=False,
        ).returncode
        self.assertEqual(code, 0)


class FlagsTest(unittest.TestCase):
    def test_every_flag_of_the_manifests_is_in_the_help(self):
        text = subprocess.run(
            [service.programs.jackdawd, "--help"], capture_output=True, text=True, check=True
        ).stdout
        known = set(re.findall(r"^\s+(--[\w-]+)", text, re.MULTILINE))
        deployment = load("deployment.yaml")["Deployment"]["spec"]["template"]["spec"]
        sidecar = load("sidecar-pod.yaml")["Pod"]["spec"]
        for container in deployment["containers"] + sidecar["initContainers"]:
            self.assertEqual(set(flags(container)) - known, set())


if __name__ == "__main__":
    service.main()
