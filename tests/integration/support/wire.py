"""Requests of jackdaw.v1 as bytes, for tests that send more calls than a command line can.

Written by hand so that no generated code is needed: a message is the concatenation of its
fields, and every field here is text, bytes, a message or a small number.
"""

import grpc

SERVICE = "/jackdaw.v1.JobService"


def varint(number):
    encoded = bytearray()
    while number > 0x7F:
        encoded.append(number & 0x7F | 0x80)
        number >>= 7
    encoded.append(number)
    return bytes(encoded)


def field(number, value):
    """A field of wire type LEN (text, bytes, a message) or VARINT (a number)."""
    if isinstance(value, int):
        return varint(number << 3) + varint(value)
    data = value.encode() if isinstance(value, str) else value
    return varint(number << 3 | 2) + varint(len(data)) + data


def create_job(function, payload="", count=1, display_name=""):
    """A CreateJobRequest of `count` equal tasks."""
    task = field(3, field(1, function)) + field(6, payload)
    array = field(1, task) + field(2, count)
    return field(1, field(2, display_name) + field(8, array))


class Jobs:
    """JobService.CreateJob at an address."""

    def __init__(self, address):
        self._channel = grpc.insecure_channel(address)
        self._create = self._channel.unary_unary(f"{SERVICE}/CreateJob")

    def create(self, request):
        """Starts the call; `result()` of what it returns waits and raises grpc.RpcError."""
        return self._create.future(request, timeout=60)

    def close(self):
        self._channel.close()
