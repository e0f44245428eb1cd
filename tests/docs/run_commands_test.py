"""The runner of documentation must notice what is wrong, else it says nothing about what is right."""
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

SCRIPT = Path(__file__).parent / "run_commands.py"


def run(text):
    """Exit status and output of the runner on a page that holds `text`."""
    with tempfile.TemporaryDirectory() as scratch:
        page = Path(scratch) / "page.md"
        page.write_text(text)
        (Path(scratch) / "examples").mkdir()
        result = subprocess.run([sys.executable, SCRIPT, "--program", "/bin/true", "--root", scratch, page], text=True,
                                capture_output=True, check=False)
        return result.returncode, result.stdout + result.stderr


def block(text):
    return f"Words.\n\n```console\n{text}\n```\n\nMore words.\n"


class RunCommandsTest(unittest.TestCase):
    def assert_passes(self, text):
        status, output = run(block(text))
        self.assertEqual(status, 0, output)

    def assert_fails(self, text, message):
        status, output = run(block(text))
        self.assertEqual(status, 1, output)
        self.assertIn(message, output)

    def test_output_as_shown(self):
        self.assert_passes("$ printf 'one  two\\nthree\\n'\none two\nthree")

    def test_wildcards(self):
        self.assert_passes("$ seq 1 20\n1\n...\n19\n20")
        self.assert_passes("$ echo gap 0.00123 after 7 steps\ngap ... after ... steps")

    def test_continued_command(self):
        self.assert_passes("$ echo one \\\n    two\none two")

    def test_blocks_share_a_folder(self):
        status, output = run(block("$ echo one > file") + block("$ cat file\none"))
        self.assertEqual((status, output), (0, "2 commands, 0 failed\n"))

    def test_wrong_output(self):
        self.assert_fails("$ echo two\none", "page.md:4: printed something else")
        self.assert_fails("$ seq 1 3\n1\n2", "printed something else")

    def test_exit_status(self):
        self.assert_fails("$ echo fine\nfine\n$ exit 3", "page.md:6: exit status 3")

    def test_other_blocks_are_not_run(self):
        self.assertEqual(run("```sh\nexit 3\n```\n"), (0, "0 commands, 0 failed\n"))


if __name__ == "__main__":
    unittest.main()
