"""The house rules hold in the tree, and tidy.py would see if they did not.

    tidy_test.py ROOT
"""

import sys
import unittest

import tidy

GUARDED = """// A thing.

#ifndef JACKDAW_{0}_H_
#define JACKDAW_{0}_H_
{1}
#endif  // JACKDAW_{0}_H_
"""


def findings(check, **files):
    """What `check` finds in a tree of the files; names: a__b_h is a/b.h."""
    tree = {}
    for name, text in files.items():
        path, _, suffix = name.replace("__", "/").rpartition("_")
        tree["CMakeLists.txt" if suffix == "cmake" and not path else
             f"{path}/CMakeLists.txt" if suffix == "cmake" else f"{path}.{suffix}"] = text
    return check(tidy.Tree(tree))


class TheTree(unittest.TestCase):
    root = "."

    def test_keeps_the_house_rules(self):
        tree = tidy.Tree.read(self.root)
        self.assertGreater(len(tree.code()), 100, "this is not the tree")
        found = [finding for check in tidy.CHECKS for finding in check(tree)]
        self.assertEqual(found, [], "\n" + "\n".join(found))


class Arrows(unittest.TestCase):
    def test_may_point_down(self):
        self.assertEqual([], findings(tidy.check_arrows,
                                      scheduler__graph__a_cc='#include "scheduler/pool/task.h"\n',
                                      server__a_cc='#include "jackdaw/v1/job.pb.h"\n'))

    def test_must_not_point_up(self):
        found = findings(tidy.check_arrows,
                         scheduler__pool__a_cc='#include "scheduler/graph/job.h"\n')
        self.assertEqual(found, ["scheduler/pool/a.cc: scheduler/pool must not include "
                                 "scheduler/graph/job.h"])

    def test_from_the_client_must_not_reach_the_server(self):
        self.assertTrue(findings(tidy.check_arrows,
                                 client__cpp__a_cc='#include "server/options.h"\n'))

    def test_from_the_scheduler_must_not_reach_grpc_protobuf_or_prometheus(self):
        for name in ("<grpcpp/grpcpp.h>", '"jackdaw/v1/job.pb.h"', "<prometheus/counter.h>"):
            self.assertTrue(findings(tidy.check_arrows,
                                     scheduler__base__a_h=f"#include {name}\n"), name)

    def test_of_an_unknown_folder_are_named(self):
        self.assertTrue(findings(tidy.check_arrows, elsewhere__a_cc=""))


class Conversion(unittest.TestCase):
    BOTH = '#include "jackdaw/v1/job.pb.h"\n#include "scheduler/graph/job.h"\n'

    def test_alone_knows_both_sides(self):
        self.assertEqual([], findings(tidy.check_convert, server__convert_request_cc=self.BOTH))
        self.assertTrue(findings(tidy.check_convert, server__other_cc=self.BOTH))


class Headers(unittest.TestCase):
    def test_are_guarded_by_their_path_and_say_what_they_are(self):
        good = GUARDED.format("SERVER_A", "")
        self.assertEqual([], findings(tidy.check_guards, server__a_h=good))
        self.assertTrue(findings(tidy.check_guards, server__b_h=good))
        self.assertTrue(findings(tidy.check_guards, server__a_h=good.replace("// A thing.\n", "")))


class Lengths(unittest.TestCase):
    def body(self, lines):
        return "int F(int a,\n      int b) {\n" + "  a += b;\n" * (lines - 3) + "}\n"

    def test_of_functions_are_limited(self):
        limit = tidy.FUNCTION_LIMIT
        self.assertEqual([], findings(tidy.check_function_lengths,
                                      server__a_cc=self.body(limit)))
        self.assertTrue(findings(tidy.check_function_lengths, server__a_cc=self.body(limit + 1)))

    def test_of_methods_and_tests_are_seen(self):
        method = "class A {\n  void F() {\n" + "    a();\n" * 100 + "  }\n};\n"
        test = "TEST(A, B) {\n" + "  a();\n" * 100 + "}\n"
        for text in (method, test):
            self.assertTrue(findings(tidy.check_function_lengths, tests__a_cc=text))

    def test_of_files_depend_on_their_kind(self):
        for name, limit in (("server__a_h", 200), ("server__a_cc", 400), ("tests__a_cc", 600)):
            self.assertEqual([], findings(tidy.check_file_lengths, **{name: "\n" * limit}), name)
            self.assertTrue(findings(tidy.check_file_lengths, **{name: "\n" * (limit + 1)}), name)

    def test_exceptions_end_when_they_are_not_needed(self):
        allowed = {"a.h": (250, "reason")}
        self.assertEqual([], tidy.over_limit("a.h", 250, 200, allowed, "the file"))
        self.assertTrue(tidy.over_limit("a.h", 251, 200, allowed, "the file"))
        self.assertTrue(tidy.over_limit("a.h", 200, 200, allowed, "the file"))


class Words(unittest.TestCase):
    def test_that_are_not_wanted_are_found(self):
        for path, text in (("server__a_cc", "// TO" + "DO: later"),
                           ("scheduler__a_cc", "atomic_thread_" + "fence(order);"),
                           ("server__b_cc", "absl::Sleep" + "For(second);"),
                           ("tests__a_cc", "  GTEST_" + "SKIP();")):
            self.assertTrue(findings(tidy.check_words, **{path: text}), text)

    def test_with_an_owner_may_stand(self):
        self.assertEqual([], findings(tidy.check_words, server__a_cc="// TO" + "DO(ada): later"))


class Sources(unittest.TestCase):
    def test_are_listed(self):
        listed = "jackdaw_library(NAME a SOURCES a.cc sub/b.cc ${PROJECT_SOURCE_DIR}/tests/c.cc)"
        self.assertEqual([], findings(tidy.check_listed, server_cmake=listed, server__a_cc="",
                                      server__sub__b_cc="", tests__c_cc=""))
        self.assertTrue(findings(tidy.check_listed, server_cmake="# a.cc", server__a_cc=""))


if __name__ == "__main__":
    TheTree.root = sys.argv.pop(1)
    unittest.main()
