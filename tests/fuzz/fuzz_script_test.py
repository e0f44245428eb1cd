"""tools/fuzz with programs that only seem to search: turns, account, table, findings."""
import fcntl
import json
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
PAGE = """# A page

| target | CPU-hours | inputs tried | findings |
| --- | --- | --- | --- |
| `calm` | 1.500 | 2,000 | 1 |
| all | 1.500 | 2,000 | 1 |

Text behind it.
"""
CALM = '#!/bin/sh\necho "stat::number_of_executed_units: 1000" >&2\n'
# Leaves what libFuzzer leaves, in the folder of the flag -artifact_prefix.
LOUD = CALM + 'for word; do case $word in -artifact_prefix=*) echo x > "${word#*=}crash-1";; esac; done\nexit 77\n'


class FuzzScript(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="kweave-fuzz-")
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)
        self.page = self.folder / "page.md"
        self.page.write_text(PAGE)
        (self.folder / "build").mkdir()
        for name, text in {"calm": CALM, "loud": LOUD}.items():
            (self.folder / f"seeds/{name}").mkdir(parents=True)
            program = self.folder / f"build/fuzz_{name}"
            program.write_text(text)
            program.chmod(0o755)

    def run_script(self, *flags):
        result = subprocess.run([sys.executable, ROOT / "tools/fuzz", "--build", self.folder / "build", "--folder",
                                 self.folder / "search", "--seeds", self.folder / "seeds", "--page", self.page, *flags],
                                capture_output=True, text=True, timeout=60)
        self.assertEqual(result.returncode, 0, result.stderr)
        return result.stdout

    def account(self):
        return json.loads((self.folder / "search/account.json").read_text())

    def test_searches_add_up(self):
        self.run_script("--seconds", "0.5", "--targets", "calm")
        first = self.account()["calm"]["inputs"]
        self.run_script("--seconds", "0.5", "--targets", "calm")
        self.assertGreater(first, 0)
        self.assertGreater(self.account()["calm"]["inputs"], first)
        self.assertNotIn("loud", self.account())

    def test_one_search_at_a_time(self):
        (self.folder / "search").mkdir()
        with open(self.folder / "search/lock", "w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            with self.assertRaisesRegex(AssertionError, "another search runs"):
                self.run_script("--seconds", "0.5")

    def test_findings_are_kept_and_counted(self):
        said = self.run_script("--seconds", "0.5", "--targets", "loud")
        self.assertIn("loud: a finding", said)
        self.assertTrue((self.folder / "search/findings/loud/crash-1").exists())
        self.assertGreater(self.account()["loud"]["findings"], 0)

    def test_the_table_gets_what_is_new(self):
        self.run_script("--seconds", "0.5", "--jobs", "2")
        account = self.account()
        for _ in range(2):  # the second time there is nothing new
            self.run_script("--record")
            text = self.page.read_text()
            inputs = account["calm"]["inputs"]
            self.assertIn(f"| {2000 + inputs:,} | 1 |", text)
            self.assertIn(f"| {2000 + inputs + account['loud']['inputs']:,} | {1 + account['loud']['findings']} |", text)
            self.assertTrue(text.startswith("# A page\n\n| target |") and text.endswith(" |\n\nText behind it.\n"), text)


if __name__ == "__main__":
    unittest.main()
