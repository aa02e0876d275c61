"""Who may break which rule of tidy.py, how far, and why. Shorter is better."""

# Longer than their kind: path -> (limit in lines, reason).
FILES = {
    "scheduler/pool/idle_set.h": (220, "a template: the protocol of parking is one whole"),
    "scheduler/pool/split_deque.h": (250, "a template: the deque's proof stands beside its code"),
}

# Files with a function longer than a screen: path -> (limit in lines, reason).
FUNCTIONS = {}

# Files of the server that include both the wire and the graph: path -> reason.
BOTH_SIDES = {
    "server/convert.h": "the conversion",
    "server/convert_request.cc": "the conversion",
    "server/convert_response.cc": "the conversion",
    "server/job_events.h": "chooses what to convert; converts by convert.h",
    "server/server.cc": "wires everything; looks into no message",
}

# Sources that no build file lists: path -> reason.
UNLISTED = {}
