"""What a reader of the pages relies on and a machine can see: that the tests, files and
functions they name exist, that links lead somewhere, that samples are code which is compiled
and run, that lists are whole. Each check takes Pages and returns findings, one line each:
`page: what is wrong`.

A sample is a region of a test, word for word but for its indentation; in docs/scheduler.md all
code is. In the test:                   In the page:

    // sample: waiting                      <!-- sample: tests/a/guide_test.cc waiting -->
    const int value = future.Wait();        ```cpp
    // end of sample                        const int value = future.Wait();
                                            ```

    pages.py ROOT      writes the regions anew into the pages
"""

import glob
import pathlib
import re
import sys
import textwrap

SKIPPED = {"build", "node_modules", ".git"}
GUIDE = "docs/scheduler.md"
FAILURES = "docs/scheduler-failures.md"
DECISIONS = "docs/decisions"
# Folders whose files a page may name; what else is in backticks is no path.
FOLDERS = ("scheduler", "server", "client", "proto", "tests", "tools", "bench", "docs", "examples",
           "deploy", "cmake")

LINK = re.compile(r"\[[^\]]*\]\(([^)#\s]+)(?:#[^)]*)?\)")
CODE = re.compile(r"`([^`\n]+)`")
FENCE = re.compile(r"^```.*?^```$", re.MULTILINE | re.DOTALL)
CALL = re.compile(r"\b([A-Z]\w*[a-z]\w*(?:::\w+)*)\(")
TEST_NAME = re.compile(r"(\w*Test)(?:\.(\w+))?")
TEST_MACRO = re.compile(r"^(?:TEST|TEST_F|TEST_P|TYPED_TEST)\(\s*(\w+),\s*(\w+)\)", re.MULTILINE)
MODEL_MACRO = re.compile(r"^JACKDAW_MODEL_TEST\((\w+)\)", re.MULTILINE)
SAMPLE_BLOCK = re.compile(r"(?:^<!-- sample: (\S+) (\S+) -->\n)?^```cpp\n(.*?)^```$",
                          re.MULTILINE | re.DOTALL)
REGION = r"^ *// sample: {0}\n(.*?)^ *// end of sample\n"


class Pages:
    """The pages and what they may speak of, by path from the root."""

    def __init__(self, files, root=None):
        self.files = files
        self.root = root

    @classmethod
    def read(cls, root):
        files = {}
        for path in sorted(pathlib.Path(root).rglob("*")):
            relative = path.relative_to(root)
            if SKIPPED & set(relative.parts) or not path.is_file():
                continue
            if path.suffix in (".md", ".cc", ".h", ".cmake") or path.name == "CMakeLists.txt":
                files[relative.as_posix()] = path.read_text(encoding="utf-8")
        return cls(files, root)

    def pages(self):
        return {p: t for p, t in self.files.items() if p.endswith(".md")}

    def exists(self, path):
        """Whether there is such a file or folder; where the path has a star, any."""
        if any(p == path or p.startswith(path.rstrip("/") + "/") for p in self.files):
            return True
        return self.root is not None and bool(glob.glob(str(pathlib.Path(self.root) / path)))


def tests_in(text):
    return {f"{suite}.{name}" for suite, name in TEST_MACRO.findall(text)}


def known_tests(pages):
    """Every test of the tree, under each of the names that CTest knows it by."""
    known = set()
    models, mutants, renamed = set(), set(), set()
    for path, text in pages.files.items():
        if path.endswith(".cc"):
            known |= tests_in(text)
            models |= set(MODEL_MACRO.findall(text))
        elif not path.endswith(".md"):
            known |= set(re.findall(r"_test\(NAME (\w+Test\.\w+)", text))
            mutants |= set(re.findall(r"_mutant\((?:NAME )?(Dies\w+)", text))
            renamed |= set(re.findall(r"\b(\w+Test)=(\w+Test)\b", text))
    known |= {f"{model}.HoldsInEveryExecution" for model in models}
    known |= {f"{model}.{mutant}" for model in models for mutant in mutants}
    for before, after in renamed:
        known |= {after + test[len(before):] for test in known if test.startswith(before + ".")}
    return known | {test.partition(".")[0] for test in known}


def check_tests(pages):
    """Tests are named in backticks: `SuiteTest.Name`, or `SuiteTest` for all of it."""
    known = known_tests(pages)
    return [f"{page}: there is no test {code}"
            for page, text in pages.pages().items() for code in CODE.findall(FENCE.sub("", text))
            if TEST_NAME.fullmatch(code) and code not in known]


def check_test_links(pages):
    """A test that links to a file is in that file."""
    findings = []
    for page, text in pages.pages().items():
        for code, target in re.findall(r"\[`(\w+Test\.\w+)`\]\(([^)]+\.cc)\)", text):
            path = resolve(page, target)
            source = pages.files.get(path, "")
            models = {f"{model}.HoldsInEveryExecution" for model in MODEL_MACRO.findall(source)}
            if code not in tests_in(source) | models:
                findings.append(f"{page}: {code} is not in {path}")
    return findings


def resolve(page, target):
    """The path from the root of what `page` links to."""
    parts = []
    for part in (pathlib.PurePosixPath(page).parent / target).parts:
        if part == "..":
            if not parts:
                return None
            parts.pop()
        else:
            parts.append(part)
    return "/".join(parts)


def check_links(pages):
    findings = []
    for page, text in pages.pages().items():
        for target in LINK.findall(FENCE.sub("", text)):
            if re.match(r"[a-z]+:", target):
                continue
            path = resolve(page, target)
            if path is None or not pages.exists(path):
                findings.append(f"{page}: the link to {target} leads nowhere")
    return findings


def check_paths(pages):
    findings = []
    for page, text in pages.pages().items():
        for code in CODE.findall(FENCE.sub("", text)):
            path = code.strip().removeprefix("./")
            if path.split("/")[0] in FOLDERS and re.fullmatch(r"[\w./*-]+/[\w./*-]*", path):
                if not pages.exists(path):
                    findings.append(f"{page}: there is no {path}")
    return findings


def check_calls(pages):
    """What a page calls, `Name()` or `Class::Name(argument)`, is in some header."""
    words = {word for path, text in pages.files.items() if path.endswith(".h")
             for word in re.findall(r"\w+", text)}
    return [f"{page}: no header has {name}"
            for page, text in pages.pages().items() for code in CODE.findall(FENCE.sub("", text))
            for call in CALL.findall(code) for name in call.split("::") if name not in words]


def check_mentions(pages):
    """The pages that comments in the sources send their readers to."""
    return [f"{path}: there is no {page}"
            for path, text in pages.files.items() if not path.endswith(".md")
            for page in re.findall(r"\bdocs/[\w/-]+\.md\b", text)
            if not pages.exists(page)]


def region(pages, path, name):
    """The text of a sample without its common indentation, or None."""
    found = re.findall(REGION.format(re.escape(name)), pages.files.get(path, ""),
                       re.MULTILINE | re.DOTALL)
    return textwrap.dedent(found[0]) if len(found) == 1 else None


def check_samples(pages):
    findings = []
    for page, page_text in pages.pages().items():
        for path, name, block in SAMPLE_BLOCK.findall(page_text):
            text = region(pages, path, name) if path else None
            if not path and page == GUIDE:
                first = block.strip().split("\n")[0]
                findings.append(f"{page}: a block of code comes from no test: {first}")
            elif path and text is None:
                findings.append(f"{page}: {path} has no region, or several, called {name}")
            elif path and text != block:
                findings.append(f"{page}: {name} is not as {path} has it; "
                                "run tests/docs/pages.py .")
    return findings


def check_decisions(pages):
    """The index lists every decision, and nothing else."""
    index = f"{DECISIONS}/README.md"
    listed = re.findall(r"^\| \[([\w-]+)\]\(([\w-]+)\.md\) \|", pages.files.get(index, ""),
                        re.MULTILINE)
    there = {pathlib.PurePosixPath(page).stem for page in pages.pages()
             if page.startswith(DECISIONS + "/") and page != index}
    findings = [f"{index}: the name {name} is not that of its page {stem}"
                for name, stem in listed if name != stem]
    stems = [stem for _, stem in listed]
    findings += [f"{index}: does not list {stem}" for stem in sorted(there - set(stems))]
    findings += [f"{index}: lists {stem}, which is not there" for stem in stems
                 if stem not in there]
    findings += [f"{index}: lists {stem} twice" for stem in sorted(set(stems))
                 if stems.count(stem) > 1]
    return findings


def check_failures(pages):
    """Each row of the page of failures has a number of its own and an answer."""
    findings = []
    numbers = []
    for line in pages.files.get(FAILURES, "").split("\n"):
        row = re.match(r"\| (\d+) \|(.*)\|(.*)\|(.*)\|$", line)
        if row is None:
            continue
        numbers.append(int(row.group(1)))
        if not all(cell.strip() for cell in row.groups()):
            findings.append(f"{FAILURES}: row {row.group(1)} has an empty cell")
    if numbers != sorted(set(numbers)):
        findings.append(f"{FAILURES}: the numbers of the rows do not rise")
    return findings


CHECKS = (check_tests, check_test_links, check_links, check_paths, check_calls, check_mentions,
          check_samples, check_decisions, check_failures)


def with_samples(pages, page):
    """The page with the text of every region as it is in the tests now."""
    def replaced(match):
        path, name, block = match.groups()
        text = region(pages, path, name) if path else None
        return match.group(0) if text is None else match.group(0).replace(
            f"```cpp\n{block}```", f"```cpp\n{text}```")
    return SAMPLE_BLOCK.sub(replaced, pages.files[page])


if __name__ == "__main__":
    tree = Pages.read(sys.argv[1])
    for path, old in tree.pages().items():
        new = with_samples(tree, path)
        if new != old:
            (pathlib.Path(sys.argv[1]) / path).write_text(new, encoding="utf-8")
            print(f"wrote {path}")
