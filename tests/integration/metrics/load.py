"""A known load through the command line, and what it must add up to."""

import collections

BENCH_TASKS = 1000
FLAGS = ("--workers", "2", "--allow-command", "true", "--allow-command", "false")

_FUNCTIONS = [
    {"id": "noop", "function": "noop"},
    {"id": "echo", "function": "echo", "payload": "x"},
    {"id": "bad", "function": "fail", "payload": "INVALID_ARGUMENT: on purpose"},
    {"id": "skipped", "function": "noop", "after": ["bad"]},
    {
        "id": "retried",
        "function": "fail",
        "payload": "UNAVAILABLE: on purpose",
        "retry": {"attempts": 3, "initial_backoff": "10ms"},
    },
]
_COMMANDS = [
    {"id": "one", "command": ["true"]},
    {"id": "two", "command": ["true"], "after": ["one"]},
    {"id": "bad", "command": ["false"]},
]
_LONG = [{"id": "long", "function": "sleep", "payload": "1h"}]
_UNKNOWN = [{"id": "unknown", "function": "no-such-function"}]
_LOST_LOOKUPS = 3


def expect(result, code):
    """Returns what the command line printed, which ends with `code`."""
    if result[0] != code:
        raise AssertionError(f"exit code {result[0]} instead of {code}: {result[1:]}")
    return result[1]


def begin(server):
    """Starts a job that stays active until finish(); returns its name."""
    return expect(server.job("submit", _LONG), 0).strip()


def finish(server, long_job):
    """Runs the rest of the load, and returns what /metrics must say from then on."""
    expect(server.run("cancel", long_job), 0)
    expect(server.job("run", _FUNCTIONS), 1)
    expect(server.job("run", _COMMANDS), 1)
    expect(server.job("submit", _UNKNOWN), 4)
    for _ in range(_LOST_LOOKUPS):
        expect(server.run("get", "jobs/lost"), 4)
    expect(server.run("bench", "--tasks", str(BENCH_TASKS), "--latency-calls", "10"), 0)
    return _truth(server.jobs())


def _truth(jobs):
    benches = [job for job in jobs if job["display_name"] == "bench"]
    sizes = collections.Counter(job["task_counts"]["total"] for job in benches)
    if sizes[BENCH_TASKS] != 1 or sizes[1] < 10 or len(sizes) != 2:
        raise AssertionError(f"jobs of the bench by size: {sizes}")
    noops = BENCH_TASKS + sizes[1]
    attempts = {
        ("noop", "function"): noops + 1,
        ("echo", "function"): 1,
        ("fail", "function"): 4,
        ("sleep", "function"): 1,
        ("true", "command"): 2,
        ("false", "command"): 1,
    }
    return {
        "tasks": {
            ("noop", "succeeded"): noops + 1,
            ("noop", "skipped"): 1,
            ("echo", "succeeded"): 1,
            ("fail", "failed"): 2,
            ("sleep", "cancelled"): 1,
            ("true", "succeeded"): 2,
            ("false", "failed"): 1,
        },
        "attempts": attempts,
        "retries": {("fail", "function"): 2},
        "queue_counts": attempts,
        "run_counts": attempts,
        "queue_buckets": attempts,
        "run_buckets": attempts,
        "pieces": {(): sum(attempts.values())},
        "jobs": {("succeeded",): len(benches), ("failed",): 2, ("cancelled",): 1},
        "jobs_ended": {("succeeded",): len(benches), ("failed",): 2, ("cancelled",): 1},
        "jobs_created": {(): len(benches) + 3},
        "jobs_refused": {},
        "job_tasks": {
            ("__other__", "succeeded"): noops + 4,
            ("__other__", "failed"): 3,
            ("__other__", "skipped"): 1,
            ("__other__", "cancelled"): 1,
        },
        "calls": {
            ("RunJob", "OK"): len(benches) + 2,
            ("CreateJob", "OK"): 1,
            ("CreateJob", "INVALID_ARGUMENT"): 1,
            ("CancelJob", "OK"): 1,
            ("GetJob", "NOT_FOUND"): _LOST_LOOKUPS,
            ("ListJobs", "OK"): 1,
        },
        "active_tasks": {},
        "ready_tasks": {},
        "injector": {},
        "commands_running": {},
    }


_CALLS = "RunJob|CreateJob|CancelJob|GetJob|ListJobs"
_SERVICE = "jackdaw.v1.JobService/"

# How Prometheus tells each entry of the truth: an expression and the labels of the keys.
QUERIES = {
    "tasks": ("jackdaw_tasks_total", ("action", "outcome")),
    "attempts": ("jackdaw_task_attempts_total", ("action", "kind")),
    "retries": ("jackdaw_task_retries_total", ("action", "kind")),
    "queue_counts": ("jackdaw_task_queue_seconds_count", ("action", "kind")),
    "run_counts": ("jackdaw_task_run_seconds_count", ("action", "kind")),
    "queue_buckets": ('jackdaw_task_queue_seconds_bucket{le="+Inf"}', ("action", "kind")),
    "run_buckets": ('jackdaw_task_run_seconds_bucket{le="+Inf"}', ("action", "kind")),
    "pieces": ("sum(jackdaw_worker_tasks_total)", ()),
    "jobs": ("jackdaw_jobs", ("state",)),
    "jobs_ended": ("jackdaw_jobs_total", ("outcome",)),
    "jobs_created": ("jackdaw_jobs_created_total", ()),
    "jobs_refused": ("jackdaw_jobs_refused_total", ()),
    "job_tasks": ("jackdaw_job_tasks_total", ("job_name", "outcome")),
    "calls": (f'jackdaw_rpcs_total{{method=~"{_SERVICE}({_CALLS})"}}', ("method", "code")),
    "active_tasks": ("jackdaw_active_tasks", ()),
    "ready_tasks": ("jackdaw_ready_tasks", ()),
    "injector": ("jackdaw_runner_injector_depth", ()),
    "commands_running": ("jackdaw_commands_running", ()),
}


def told(prometheus):
    """What Prometheus says now, in the shape of the truth: only what is not zero."""
    result = {}
    for entry, (expression, keys) in QUERIES.items():
        result[entry] = {
            tuple(labels[key].removeprefix(_SERVICE) for key in keys): int(value)
            for labels, value in prometheus.query(f"{expression} != 0")
        }
    return result
