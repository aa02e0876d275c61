"""The pages tell the truth where a machine can see it, and pages.py would see if they did not.

    pages_test.py ROOT
"""

import sys
import unittest

import pages

TEST_FILE = "TEST_F(DequeTest, OwnerTakesTheNewest) {\n}\nTEST(PoolTest,\n     Runs) {}\n"
SAMPLE_FILE = ("TEST(A, B) {\n  // sample: waiting\n  if (x) {\n    y();\n  }\n"
               "  // end of sample\n}\n")
BLOCK = "<!-- sample: tests/guide_test.cc waiting -->\n```cpp\nif (x) {\n  y();\n}\n```\n"


def findings(check, **files):
    """What `check` finds in the files; names: a__b_md is a/b.md."""
    tree = {}
    for name, text in files.items():
        path, _, suffix = name.replace("__", "/").rpartition("_")
        tree["CMakeLists.txt" if suffix == "cmake" else f"{path}.{suffix}"] = text
    return check(pages.Pages(tree))


class TheTree(unittest.TestCase):
    root = "."

    def test_tells_the_truth(self):
        tree = pages.Pages.read(self.root)
        self.assertTrue(tree.exists(pages.GUIDE), "this is not the tree")
        found = [finding for check in pages.CHECKS for finding in check(tree)]
        self.assertEqual(found, [], "\n" + "\n".join(found))

    def test_has_an_answer_to_every_known_failure(self):
        rows = [line for line in pages.Pages.read(self.root).files[pages.FAILURES].split("\n")
                if line.startswith("| ") and line[2].isdigit()]
        self.assertEqual(len(rows), 64)


class Tests(unittest.TestCase):
    def check(self, page, **files):
        return findings(pages.check_tests, docs__a_md=page, **files)

    def test_that_exist_may_be_named(self):
        page = "`DequeTest.OwnerTakesTheNewest`, `PoolTest.Runs`, all of `DequeTest`"
        self.assertEqual([], self.check(page, tests__a_cc=TEST_FILE))

    def test_that_do_not_exist_are_found(self):
        for name in ("DequeTest.OwnerTakesTheOldest", "PoolTest.OwnerTakesTheNewest", "RingTest"):
            self.assertEqual(self.check(f"see `{name}`", tests__a_cc=TEST_FILE),
                             [f"docs/a.md: there is no test {name}"])

    def test_that_are_only_mentioned_in_a_comment_do_not_exist(self):
        self.assertTrue(self.check("`PoolTest.Runs`", tests__a_cc="// TEST(PoolTest, Runs)\n"))

    def test_of_models_mutants_and_other_builds_have_names_of_their_own(self):
        files = {"tests__a_cc": "JACKDAW_MODEL_TEST(DequeModelTest) {\n" + TEST_FILE,
                 "root_cmake": "deque_mutant(DiesOfX\nspin_test(NAME IdleTest.Runs MODEL a\n"
                               "PoolTest=PoolUnoptimisedTest"}
        for name in ("DequeModelTest.HoldsInEveryExecution", "DequeModelTest.DiesOfX",
                     "IdleTest.Runs", "PoolUnoptimisedTest.Runs"):
            self.assertEqual([], self.check(f"`{name}`", **files), name)
        self.assertTrue(self.check("`DequeModelTest.DiesOfY`", **files))

    def test_are_in_the_file_that_they_link_to(self):
        page = "[`PoolTest.Runs`](../tests/{}.cc)"
        files = {"tests__a_cc": TEST_FILE, "tests__b_cc": ""}
        self.assertEqual([], findings(pages.check_test_links, docs__a_md=page.format("a"), **files))
        for name in ("b", "c"):
            self.assertTrue(findings(pages.check_test_links, docs__a_md=page.format(name), **files))


class Links(unittest.TestCase):
    def check(self, page):
        return findings(pages.check_links, docs__a_md=page, docs__b_md="", scheduler__c_h="")

    def test_lead_to_files_folders_and_other_sites(self):
        self.assertEqual([], self.check("[b](b.md), [c](../scheduler/c.h), [s](../scheduler), "
                                        "[part](b.md#part), [site](https://example.com/x)"))

    def test_that_lead_nowhere_are_found(self):
        for target in ("c.md", "../scheduler/d.h", "../../elsewhere.md"):
            self.assertEqual(self.check(f"[it]({target})"),
                             [f"docs/a.md: the link to {target} leads nowhere"])


class Paths(unittest.TestCase):
    def check(self, page):
        return findings(pages.check_paths, docs__a_md=page, scheduler__pool__c_h="")

    def test_of_files_and_folders_may_be_named(self):
        self.assertEqual([], self.check("`scheduler/pool/c.h`, `scheduler/pool`, `scheduler/`"))

    def test_that_are_none_are_no_matter(self):
        self.assertEqual([], self.check("`a / b`, `other/thing`, `jobs/{job}`"))

    def test_that_do_not_exist_are_found(self):
        self.assertEqual(self.check("`scheduler/pool/d.h`"),
                         ["docs/a.md: there is no scheduler/pool/d.h"])

    def test_of_pages_that_sources_name_exist(self):
        for page, found in (("a", []), ("b", ["scheduler/c.h: there is no docs/b.md"])):
            source = f"// See docs/{page}.md.\n"
            self.assertEqual(found, findings(pages.check_mentions, docs__a_md="",
                                             scheduler__c_h=source))


class Calls(unittest.TestCase):
    def check(self, page):
        return findings(pages.check_calls, docs__a_md=page, scheduler__c_h="class Fiber { Wait(); }")

    def test_of_what_headers_have_may_be_named(self):
        self.assertEqual([], self.check("`Wait()`, `Fiber::Wait(x)`, `fork()`, `Other.of`"))

    def test_of_what_no_header_has_are_found(self):
        self.assertEqual(self.check("`Fiber::Join()`"), ["docs/a.md: no header has Join"])


class Samples(unittest.TestCase):
    def check(self, block, source=SAMPLE_FILE):
        return findings(pages.check_samples, docs__scheduler_md=block, tests__guide_test_cc=source)

    def test_are_as_the_test_has_them(self):
        self.assertEqual([], self.check(BLOCK))

    def test_that_differ_by_a_word_or_a_space_are_found(self):
        for changed in (BLOCK.replace("y()", "z()"), BLOCK.replace("  y", " y")):
            self.assertIn("waiting is not as", self.check(changed)[0])

    def test_that_are_not_there_or_there_twice_are_found(self):
        for source in ("", SAMPLE_FILE * 2):
            self.assertIn("no region, or several", self.check(BLOCK, source)[0])

    def test_of_no_test_are_found(self):
        block = "```cpp\nx();\n```\n"
        self.assertIn("comes from no test: x();", self.check(block)[0])
        self.assertEqual([], findings(pages.check_samples, README_md=block))

    def test_are_written_anew(self):
        guide = "A\n\n" + BLOCK.replace("y()", "z()") + "\nB\n"
        tree = pages.Pages({"docs/scheduler.md": guide, "tests/guide_test.cc": SAMPLE_FILE})
        self.assertEqual(pages.with_samples(tree, "docs/scheduler.md"), "A\n\n" + BLOCK + "\nB\n")


class Decisions(unittest.TestCase):
    def check(self, index):
        return findings(pages.check_decisions, docs__decisions__README_md=index,
                        docs__decisions__one_md="")

    def test_are_listed_once_each(self):
        row = "| [one](one.md) | what it says |\n"
        self.assertEqual([], self.check(row))
        for index in ("", row * 2, row + "| [two](two.md) | gone |\n", "| [uno](one.md) | it |\n"):
            self.assertTrue(self.check(index), index)


class Failures(unittest.TestCase):
    def check(self, page):
        return findings(pages.check_failures, **{"docs__scheduler-failures_md": page})

    def test_have_answers_and_rising_numbers(self):
        self.assertEqual([], self.check("| 1 | a#1 | it hung | a test |\n| 3 | b | c | d |\n"))
        for page in ("| 1 | a#1 | it hung | |\n", "| 2 | a | b | c |\n| 1 | a | b | c |\n"):
            self.assertTrue(self.check(page), page)


if __name__ == "__main__":
    TheTree.root = sys.argv.pop(1)
    unittest.main()
