"""Gives tools/wrap-comments lines that are too long, and asks for them as they should be."""
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

SCRIPT = Path(__file__).parents[2] / "tools" / "wrap-comments"
LONG = "word " * 21 + "end"  # 108 columns


def run(text, *arguments):
    with tempfile.TemporaryDirectory() as scratch:
        path = Path(scratch) / "a.cc"
        path.write_text(text)
        result = subprocess.run([sys.executable, SCRIPT, *arguments, path], text=True, capture_output=True, check=False)
        return result.returncode, path.read_text(), result.stdout


class WrapCommentsTest(unittest.TestCase):
    def assert_wrapped(self, text, expected):
        self.assertEqual(run(text), (0, expected, ""))
        self.assertEqual(run(expected), (0, expected, ""))
        self.assertEqual(run(expected, "--check")[0], 0)

    def test_what_is_too_long_goes_to_the_next_line_of_the_paragraph(self):
        self.assert_wrapped(f"// {LONG} one two\n// three\n\n// four\n",
                            f"// {LONG[:-4]}\n// end one two three\n\n// four\n")

    def test_and_to_a_line_of_its_own_where_there_is_none(self):
        self.assert_wrapped(f"  /// {LONG} one\nint a;\n", f"  /// {LONG[:-4]}\n  /// end one\nint a;\n")
        self.assert_wrapped(f"// {LONG} one\n//\n// - two\n", f"// {LONG[:-4]}\n// end one\n//\n// - two\n")

    def test_under_the_text_of_a_heading(self):
        self.assert_wrapped(f"// Method   {LONG} one\n// Holds    two\n",
                            f"// Method   {LONG[:-14]}\n//          word word end one\n// Holds    two\n")

    def test_above_code_where_it_does_not_fit_behind(self):
        self.assert_wrapped(f"  int a;  ///< {LONG}\n", f"  /// W{LONG[1:-4]}\n  /// end.\n  int a;\n")

    def test_what_has_no_place_to_break_stays(self):
        address = f"// https://{'a' * 120}\n"
        self.assert_wrapped(address, address)
        self.assert_wrapped(f'f("{LONG} // no comment");\n', f'f("{LONG} // no comment");\n')

    def test_check_names_the_line(self):
        status, _, output = run(f"int a;\n// {LONG} one\n", "--check")
        self.assertEqual(status, 1)
        self.assertIn("a.cc:2: 115 columns", output)


if __name__ == "__main__":
    unittest.main()
