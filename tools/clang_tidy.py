#!/usr/bin/env python3
"""Runs clang-tidy over the sources of a build directory, in parallel.

    clang_tidy.py BUILD_DIRECTORY [SOURCE...]

Tests are half of the sources: they get clang's own diagnostics, the thread-safety analysis
among them, with the headers of GoogleTest parsed once for all.

A source that was found clean is not looked at again until it, a header of ours that it
includes, its compile command, .clang-tidy or clang-tidy itself changes: what was clean is
remembered under BUILD_DIRECTORY/clean, by a hash of all that. Generated sources are not ours
and are left out. Ends with 1 when anything was found.
"""

import concurrent.futures
import hashlib
import json
import os
import pathlib
import re
import shlex
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
TESTS = ROOT / "tests"
PRECOMPILED = TESTS / "tidy/precompiled.h"
INCLUDE = re.compile(rb'^\s*#\s*include\s+"([^"]+)"', re.MULTILINE)


def includes_of(path, build, cache):
    """The files of ours that `path` includes, directly."""
    if path not in cache:
        places = (ROOT, path.parent, build / "proto/generated")
        found = []
        for name in INCLUDE.findall(path.read_bytes()):
            for place in places:
                candidate = place / name.decode()
                if candidate.is_file():
                    found.append(candidate)
                    break
        cache[path] = found
    return cache[path]


def closure_of(path, build, cache):
    """`path` and all files of ours that it includes, directly or not, sorted."""
    seen = {path}
    todo = [path]
    while todo:
        for header in includes_of(todo.pop(), build, cache):
            if header not in seen:
                seen.add(header)
                todo.append(header)
    return sorted(seen)


def key_of(entry, source, common, build, cache):
    digest = hashlib.sha256(common)
    digest.update(entry.get("command", "").encode())
    for file in closure_of(source, build, cache):
        digest.update(str(file).encode())
        digest.update(file.read_bytes())
    return digest.hexdigest()


def rules():
    """The configuration, without its comments."""
    lines = (ROOT / ".clang-tidy").read_bytes().splitlines()
    lines = [line for line in lines if not line.strip().startswith(b"#")]
    return b"\n".join(lines + PRECOMPILED.read_bytes().splitlines())


def words_of(entry):
    """The compile command of `entry` without what it makes and what differs between targets."""
    words = [w for w in shlex.split(entry["command"]) if w not in ("-c", "-fPIC", "-fPIE", "-pthread")]
    output = words.index("-o")
    return words[:output] + words[output + 2:]


def run(words, directory):
    """What a program that failed said; empty: it did not fail."""
    result = subprocess.run(words, cwd=directory, capture_output=True, text=True, check=False)
    if result.returncode != 0:
        return result.stdout + result.stderr or f"{words[0]} ended with {result.returncode}\n"
    return ""


def precompile(entries, build):
    """Parses the headers of GoogleTest as tests do; returns what clang needs to go on there."""
    entry = next(e for e in entries if "-DGTEST_HAS_PTHREAD" in e["command"])
    made = build / "precompiled.pch"
    words = [w for w in words_of(entry)[:-1] if not w.startswith("-DJACKDAW_")]
    said = run([*words, "-x", "c++-header", str(PRECOMPILED), "-o", str(made)], build)
    if said:
        sys.exit(f"{PRECOMPILED}: {said}")
    return ["-include-pch", str(made), "-fsyntax-only"]


def check(source, entry, precompiled, mark):
    """Returns what there is to say about `source`; empty: clean, and `mark` remembers it."""
    if TESTS in source.parents:
        said = run([*words_of(entry), *precompiled], entry["directory"])
    else:
        said = run(["clang-tidy", "-p", entry["directory"], "--quiet", str(source)], ROOT)
    if not said:
        mark.touch()
    return said


def main():
    build = pathlib.Path(sys.argv[1]).resolve()
    chosen = {pathlib.Path(name).resolve() for name in sys.argv[2:]}
    clean = build / "clean"
    clean.mkdir(exist_ok=True)
    version = subprocess.run(["clang-tidy", "--version"], capture_output=True, check=True).stdout
    common = version + rules()
    cache = {}
    todo = {}
    total = 0
    entries = json.loads((build / "compile_commands.json").read_text())
    for entry in entries:
        source = pathlib.Path(entry["directory"], entry["file"]).resolve()
        if build in source.parents or ROOT not in source.parents or not source.is_file():
            continue
        if chosen and source not in chosen:
            continue
        total += 1
        mark = clean / key_of(entry, source, common, build, cache)
        if not mark.exists():
            todo[source] = (entry, mark)
    print(f"clang-tidy: {total} sources, {len(todo)} of them new or changed", flush=True)

    failed = 0
    precompiled = precompile(entries, build) if todo else []

    def look(source):
        entry, mark = todo[source]
        return check(source, entry, precompiled, mark)

    # The order is the slow ones first, so that both cores end together.
    order = sorted(todo, key=lambda s: -len(closure_of(s, build, cache)))
    with concurrent.futures.ThreadPoolExecutor(max_workers=os.cpu_count()) as pool:
        for source, said in zip(order, pool.map(look, order)):
            if said:
                failed += 1
                print(f"--- {source.relative_to(ROOT)}\n{said}", flush=True)
    if failed:
        print(f"clang-tidy: {failed} sources have findings", flush=True)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
