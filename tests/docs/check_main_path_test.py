"""Breaks a small path in every way and asks check_main_path.py to name the break."""
import tempfile
import unittest
from pathlib import Path

from check_main_path import PAGE, broken_steps

TABLE = "## The main path\n\n| 1 | `app/train.cc` | `Run` | reads |\n| 2 | `src/compute/loop.cc` | `Loop` | adds |\n\n## Other\n"
FILES = {PAGE: TABLE, "app/train.cc": "void Run() {\n  Loop<float>(x);  // eq. (1)\n}\n", "src/compute/loop.cc": "void Loop(int x) {}\n"}


def broken(**changes):
    with tempfile.TemporaryDirectory() as scratch:
        root = Path(scratch)
        for path, text in {**FILES, **changes.get("files", {})}.items():
            if text is not None:
                (root / path).parent.mkdir(parents=True, exist_ok=True)
                (root / path).write_text(text)
        return " ".join(broken_steps(root))


class MainPathTest(unittest.TestCase):
    def test_a_path_that_holds(self):
        self.assertEqual(broken(), "")

    def test_breaks_are_named(self):
        self.assertIn("step 2: there is no file src/compute/loop.cc", broken(files={"src/compute/loop.cc": None}))
        self.assertIn("step 2: src/compute/loop.cc has no Loop", broken(files={"src/compute/loop.cc": "void Other() {}\n"}))
        self.assertIn("step 2: app/train.cc does not call Loop",
                      broken(files={"app/train.cc": "void Run() {\n  // Loop(x) is called elsewhere\n}\n"}))
        self.assertIn("has no table", broken(files={PAGE: "## The main path\n"}))
        self.assertIn("starts in app/main.cc", broken(files={PAGE: TABLE.replace("app/train.cc", "app/main.cc")}))
        rows = "".join(f"| {i} | `app/train.cc` | `Run` | |\n" for i in range(3, 14))
        self.assertIn("13 files", broken(files={PAGE: TABLE.replace("\n\n## Other", "\n" + rows + "\n## Other")}))


if __name__ == "__main__":
    unittest.main()
