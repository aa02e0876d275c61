#!/usr/bin/env python3
"""Runs clang-tidy over the sources of a build directory, in parallel.

    clang_tidy.py BUILD_DIRECTORY [SOURCE...]

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
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
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
    lines = []
    for name in (".clang-tidy", "tests/.clang-tidy"):
        lines += (ROOT / name).read_bytes().splitlines()
    return b"\n".join(line for line in lines if not line.strip().startswith(b"#"))


def check(source, build, mark):
    """Returns what clang-tidy says about `source`; empty: clean, and `mark` remembers it."""
    result = subprocess.run(
        ["clang-tidy", "-p", str(build), "--quiet", str(source)],
        cwd=ROOT, capture_output=True, text=True, check=False)
    if result.returncode != 0:
        return result.stdout + result.stderr
    mark.touch()
    return ""


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
    for entry in json.loads((build / "compile_commands.json").read_text()):
        source = pathlib.Path(entry["directory"], entry["file"]).resolve()
        if build in source.parents or ROOT not in source.parents or not source.is_file():
            continue
        if chosen and source not in chosen:
            continue
        total += 1
        mark = clean / key_of(entry, source, common, build, cache)
        if not mark.exists():
            todo[source] = mark
    print(f"clang-tidy: {total} sources, {len(todo)} of them new or changed", flush=True)

    failed = 0
    # The order is the slow ones first, so that both cores end together.
    order = sorted(todo, key=lambda s: -len(closure_of(s, build, cache)))
    with concurrent.futures.ThreadPoolExecutor(max_workers=os.cpu_count()) as pool:
        for source, said in zip(order, pool.map(lambda s: check(s, build, todo[s]), order)):
            if said:
                failed += 1
                print(f"--- {source.relative_to(ROOT)}\n{said}", flush=True)
    if failed:
        print(f"clang-tidy: {failed} sources have findings", flush=True)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
