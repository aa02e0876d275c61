"""What the house rules ask of the sources and a machine can see. Each check takes a Tree and
returns findings, one line each: `path: what is wrong`.

The lengths are a ratchet: an exception has its reason and its own limit in exceptions.py, and
one that is no longer needed is a finding too.
"""

import pathlib
import re

import exceptions

CODE = (".h", ".cc")
SKIPPED = {"build", "node_modules", ".git"}

# Each folder may include these, besides itself and the folders of libraries. Arrows point down.
ARROWS = {
    "scheduler/base": [],
    "scheduler/pool": ["scheduler/base"],
    "scheduler/async": ["scheduler/base", "scheduler/pool"],
    "scheduler/graph": ["scheduler/base", "scheduler/pool", "scheduler/async"],
    "scheduler/exec": ["scheduler/base", "scheduler/pool", "scheduler/async", "scheduler/graph"],
    "scheduler/trace": ["scheduler/base", "scheduler/pool"],
    "server": ["scheduler", "proto"],
    "client/cpp": ["proto"],
    "client/jobfile": [],
    "client/cli": ["client/cpp", "client/jobfile", "proto"],
    "examples": ["scheduler", "client/cpp", "proto"],
    "cmake": [],
    "bench": ["scheduler", "client/cpp", "server", "proto", "tests/support"],
    "tests": ["scheduler", "client", "server", "proto"],
}

# Where generated headers live; they are folder `proto` in ARROWS.
GENERATED = ("jackdaw/v1/", "google/rpc/", "grpc/")
# The scheduler is usable without these.
NOT_IN_SCHEDULER = re.compile(r"grpc|protobuf|prometheus|\.pb\.h|spdlog|CLI/")

FILE_LIMITS = {".h": 200, ".cc": 400}
TEST_LIMIT = 600
FUNCTION_LIMIT = 60

INCLUDE = re.compile(r'^\s*#\s*include\s+(["<])([^">]+)[">]', re.MULTILINE)
UNFINISHED = re.compile(r"\b(TO" r"DO|FIX" r"ME|X" r"XX)\b(?!\([a-z]+\): )")


class Tree:
    """The sources, by path from the root. Tests make one of their own text."""

    def __init__(self, files):
        self.files = files

    @classmethod
    def read(cls, root):
        root = pathlib.Path(root)
        files = {}
        for path in sorted(root.rglob("*")):
            relative = path.relative_to(root)
            if SKIPPED & set(relative.parts) or not path.is_file():
                continue
            if path.suffix in (*CODE, ".py", ".proto", ".cmake") or path.name == "CMakeLists.txt":
                files[relative.as_posix()] = path.read_text(encoding="utf-8")
        return cls(files)

    def code(self, *suffixes):
        wanted = suffixes or CODE
        return {p: t for p, t in self.files.items() if p.endswith(wanted)}


def folder_of(path):
    """The entry of ARROWS that `path` belongs to, or None."""
    fitting = [folder for folder in ARROWS if path.startswith(folder + "/")]
    return max(fitting, key=len) if fitting else None


def is_test(path):
    return path.startswith("tests/")


def includes(text):
    return [(bracket, name) for bracket, name in INCLUDE.findall(text)]


def check_arrows(tree):
    findings = []
    for path, text in tree.code().items():
        own = folder_of(path)
        if own is None:
            findings.append(f"{path}: lies in no folder that ARROWS of tests/tidy/tidy.py knows")
            continue
        allowed = [own, *ARROWS[own]]
        for bracket, name in includes(text):
            if own.startswith("scheduler/") and NOT_IN_SCHEDULER.search(name):
                findings.append(f"{path}: the scheduler must not include {name}")
            if bracket == "<":
                continue
            target = "proto/" + name if name.startswith(GENERATED) else name
            ours = folder_of(target) is not None or target.startswith(("proto/", "client/"))
            if ours and not any(target.startswith(folder + "/") for folder in allowed):
                findings.append(f"{path}: {own} must not include {name}")
    return findings


def check_convert(tree):
    """In the server, only the conversion knows both a message and the graph."""
    findings = []
    for path, text in tree.code().items():
        if not path.startswith("server/") or path in exceptions.BOTH_SIDES:
            continue
        names = [name for _, name in includes(text)]
        wire = any(name.startswith("jackdaw/v1/") for name in names)
        graph = any(name.startswith("scheduler/graph/") for name in names)
        if wire and graph:
            findings.append(f"{path}: includes both the wire and the graph; see server/convert.h")
    return findings


def check_guards(tree):
    findings = []
    for path, text in tree.code(".h").items():
        guard = "JACKDAW_" + re.sub(r"[^A-Za-z0-9]", "_", path).upper() + "_"
        if f"#ifndef {guard}\n#define {guard}\n" not in text:
            findings.append(f"{path}: wants the header guard {guard}")
        if not re.match(r"// \S", text):
            findings.append(f"{path}: opens without a comment that says what it is")
    return findings


def over_limit(path, length, limit, allowed, what):
    """Findings of one length against its limit and its exception, if it has one."""
    if path in allowed:
        own, _ = allowed[path]
        if length <= limit:
            return [f"{path}: needs its exception for {what} no more; remove it"]
        limit = own
    return [f"{path}: {what} has {length} lines, the limit is {limit}"] if length > limit else []


def check_file_lengths(tree):
    findings = []
    for path, text in tree.code().items():
        suffix = pathlib.PurePosixPath(path).suffix
        limit = TEST_LIMIT if is_test(path) and suffix == ".cc" else FILE_LIMITS[suffix]
        findings += over_limit(path, text.count("\n"), limit, exceptions.FILES, "the file")
    return findings


def functions(text):
    """(first line number, lines) of each function, as clang-format lays them out."""
    lines = text.split("\n")
    found = []
    i = 0
    while i < len(lines):
        start = re.match(r"( {0,4})[A-Za-z~\[].*\(", lines[i])
        if not start or re.match(r" *(namespace|class|struct|enum|if|for|while|switch|return)\b",
                                 lines[i]):
            i += 1
            continue
        opening = i
        while opening < len(lines) and not lines[opening].rstrip().endswith(("{", ";", "}")):
            opening += 1
        closing = opening
        if opening < len(lines) and lines[opening].rstrip().endswith("{"):
            closing = next((j for j in range(opening + 1, len(lines))
                            if lines[j].rstrip() == start.group(1) + "}"), opening)
        if closing > opening:
            found.append((i + 1, closing - i + 1))
        i = max(closing, i) + 1
    return found


def check_function_lengths(tree):
    findings = []
    for path, text in tree.code().items():
        longest = max(functions(text), key=lambda f: f[1], default=(1, 0))
        findings += over_limit(path, longest[1], FUNCTION_LIMIT, exceptions.FUNCTIONS,
                               f"the function of line {longest[0]}")
    return findings


def forbid(tree, pattern, reason, where=lambda path: True):
    expression = re.compile(pattern)
    return [f"{path}:{number}: {reason}"
            for path, text in tree.code(*CODE, ".py", ".proto").items() if where(path)
            for number, line in enumerate(text.split("\n"), 1) if expression.search(line)]


def check_words(tree):
    own = "tests/tidy/"
    def elsewhere(path):
        return not path.startswith(own)
    return (
        forbid(tree, UNFINISHED, "unfinished work needs an owner", elsewhere) +
        forbid(tree, r"atomic_thread_fence\s*\(",
               "no fences: ThreadSanitizer is blind to them", elsewhere) +
        forbid(tree, r"\b(sleep_for|SleepFor|usleep)\s*\(", "no sleeping in logic",
               lambda path: path.startswith(("scheduler/", "server/"))) +
        forbid(tree, r"GTEST_SKIP|\bDISABLED_", "no test is skipped",
               lambda path: is_test(path) and elsewhere(path)))


def check_listed(tree):
    """Every source is named in a build file, so that nothing lies there unbuilt."""
    listed = set()
    for path, text in tree.files.items():
        if not path.endswith(("CMakeLists.txt", ".cmake")):
            continue
        folder = pathlib.PurePosixPath(path).parent
        text = re.sub(r"#.*", "", text)
        for token in re.findall(r"[^\s()\"]+\.cc\b", text):
            token = re.sub(r"^\$\{PROJECT_SOURCE_DIR\}/", "/", token)
            listed.add(token[1:] if token.startswith("/") else (folder / token).as_posix())
    return [f"{path}: is listed in no build file"
            for path in tree.code(".cc")
            if path not in listed and path not in exceptions.UNLISTED]


CHECKS = (check_arrows, check_convert, check_guards, check_file_lengths, check_function_lengths,
          check_words, check_listed)
