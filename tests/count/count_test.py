"""Gives tools/count small trees whose counts are known, and one of every kind that breaks a limit."""
import json
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

SCRIPT = Path(__file__).parents[2] / "tools" / "count"
LIMITS = {"interfaces": {}, "other_interfaces": 2, "production_lines": 100, "constants": 10, "constants_without_reason": 0,
          "public_header_comments": 0.5}
HEADER = "// One.\nint One();\n"


def run(files, *arguments, limits=None):
    """Exit status and output of the script on a tree that holds `files` ({path: text})."""
    with tempfile.TemporaryDirectory() as scratch:
        root = Path(scratch)
        files = {"include/kweave/a.h": HEADER, "tools/limits.json": json.dumps({**LIMITS, **(limits or {})}), **files}
        for path, text in files.items():
            (root / path).parent.mkdir(parents=True, exist_ok=True)
            (root / path).write_text(text)
        result = subprocess.run([sys.executable, SCRIPT, *arguments, root], text=True, capture_output=True, check=False)
        return result.returncode, result.stdout + result.stderr


class CountTest(unittest.TestCase):
    def assert_printed(self, output, *words):
        self.assertTrue(any(line.split() == list(words) for line in output.splitlines()), output)

    def test_lines_leave_out_comments_and_blanks_and_know_tests(self):
        status, output = run({
            "src/gram/a.cc": '// why\n\nint a;  // one\n/* two\n   lines */ int b;\nconst char* url = "http://x";\n',
            "src/gram/a_test.cc": "int t;\nint u;\n",
            "tests/support/b.h": "int s;\n",
        })
        self.assertEqual(status, 0)
        self.assert_printed(output, "src/gram", "3", "2")
        self.assert_printed(output, "tests", "0", "1")
        self.assert_printed(output, "all", "4", "3")

    def test_constants_with_a_reason_beside_them(self):
        source = ("constexpr int kSame = 3;  // measured\n// Derived.\nconstexpr double kAbove = 0.5;\nconstexpr float kGroup = 1;\n\n"
                  "constexpr int kBare = 4;\nconstexpr const char* kText = \"\";\n"
                  "static constexpr Index kLong =\n    7;  // rows\n")
        status, output = run({"src/qp/a.cc": source, "src/qp/a_test.cc": "constexpr int kInTest = 1;\n"}, "--constants")
        self.assertEqual(status, 0)
        self.assertEqual([line.split()[-1] for line in output.splitlines()],
                         ["kBare", "kSame", "kAbove", "kGroup", "kLong"])
        self.assertEqual([line.startswith("BARE") for line in output.splitlines()], [True, False, False, False, False])

    def test_every_constant_of_a_declaration(self):
        source = "constexpr int kLeast = 3, kMost = 4 * kLeast;  // measured\nstatic constexpr Index kRows = Size(1, 2), kColumns{7};\n"
        _, output = run({"src/qp/a.cc": source}, "--constants")
        self.assertEqual([line.split()[-1] for line in output.splitlines()], ["kRows", "kColumns", "kLeast", "kMost"])
        self.assertEqual([line.startswith("BARE") for line in output.splitlines()], [True, True, False, False])

    def test_virtual_calls_of_a_class(self):
        source = ("class Wide {\n public:\n  virtual ~Wide() = default;\n  virtual int A() = 0;\n  virtual int B() { return 1; }\n"
                  "  // virtual int InAComment();\n  class Inner {\n    virtual int C() = 0;\n  };\n};\n"
                  "class Narrow : public Wide {\n  int A() override;\n};\n")
        _, output = run({"src/gram/a.h": source})
        self.assert_printed(output, "2", "src/gram/a.h:", "Wide")
        self.assert_printed(output, "1", "src/gram/a.h:", "Inner")
        self.assertNotIn("Narrow", output)

    def test_limits(self):
        three = "class Seam {\n virtual int A();\n virtual int B();\n virtual int C();\n};\n"
        self.assertEqual(run({}, "--check"), (0, ""))
        cases = [
            ({"src/a/a.h": three}, {}, "the interface Seam has 3 virtual calls; its limit is 2"),
            ({}, {"interfaces": {"Gone": 3}}, "the interface Gone has a limit and is no more"),
            ({"src/a/a.h": "constexpr int kBare = 4;\n"}, {}, "constants without reason: 1, above the limit of 0"),
            ({"src/a/a.h": "int a;\n"}, {"production_lines": 1}, "production lines: 2, above the limit of 1"),
            ({"include/kweave/b.h": "int a;\n"}, {}, "include/kweave/b.h has 0.00 comment lines"),
        ]
        for files, limits, sentence in cases:
            status, output = run(files, "--check", limits=limits)
            self.assertEqual(status, 1)
            self.assertIn(sentence, output)
        self.assertEqual(run({"src/a/a.h": three}, "--check", limits={"interfaces": {"Seam": 3}}), (0, ""))


if __name__ == "__main__":
    unittest.main()
