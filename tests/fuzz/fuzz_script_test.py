"""tools/fuzz with programs that only seem to search: turns, account, table, findings."""
import fcntl
import json
import shutil
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

    def searched_elsewhere(self):
        """A search in another folder, from where only its files come back, read-only."""
        subprocess.run([sys.executable, ROOT / "tools/fuzz", "--build", self.folder / "build", "--folder",
                        self.folder / "other", "--seeds", self.folder / "seeds", "--seconds", "0.5"], check=True,
                       stdout=subprocess.DEVNULL, timeout=60)
        (self.folder / "other/corpus/calm/new").write_text("input")
        (self.folder / "other/corpus/calm/new").chmod(0o444)
        return json.loads((self.folder / "other/account.json").read_text())

    def test_a_search_elsewhere_is_added_once(self):
        self.run_script("--seconds", "0.5", "--targets", "calm")
        here = self.account()["calm"]["inputs"]
        for _ in range(2):  # the second time it went on
            elsewhere = self.searched_elsewhere()
            for _ in range(2):
                self.run_script("--merge", self.folder / "other")
                self.run_script("--record")
            self.assertIn(f"| `calm` | 1.500 | {2000 + here + elsewhere['calm']['inputs']:,} | 1 |", self.page.read_text())
        self.assertIn(f"| {elsewhere['loud']['inputs']:,} | {elsewhere['loud']['findings']} |", self.page.read_text())
        self.assertEqual((self.folder / "search/corpus/calm/new").read_text(), "input")
        self.assertTrue((self.folder / "search/findings/loud/crash-1").exists())

    def test_only_searches_are_merged(self):
        (self.folder / "nothing").mkdir()
        with self.assertRaisesRegex(AssertionError, "is no folder of a search"):
            self.run_script("--merge", self.folder / "nothing")
        self.run_script("--seconds", "0.5", "--targets", "calm")
        with self.assertRaisesRegex(AssertionError, "is this search itself"):
            self.run_script("--merge", self.folder / "search")

    def test_a_packed_search_runs_by_itself(self):
        for name in ("calm", "loud"):  # a program that can be stripped and asked for its libraries
            shutil.copy("/bin/true", self.folder / f"build/fuzz_{name}")
        (self.folder / "seeds/calm/seed").write_text("seed")
        self.run_script("--pack", self.folder / "pack.tar.xz")
        subprocess.run(["tar", "-C", self.folder, "-xf", self.folder / "pack.tar.xz"], check=True)
        packed = self.folder / "fuzz-pack"
        subprocess.run([sys.executable, packed / "fuzz", "--seconds", "0.5"], check=True, timeout=60, cwd="/")
        self.assertEqual(set(json.loads((packed / "search/account.json").read_text())), {"calm", "loud"})
        self.assertEqual((packed / "seeds/calm/seed").read_text(), "seed")

class Targets(unittest.TestCase):
    def test_every_reader_has_a_target(self):
        fuzzed = "".join(path.read_text() for path in (ROOT / "tests/fuzz").glob("fuzz_*.cc"))
        for header in (ROOT / "src/data").glob("*_reader.h"):
            self.assertIn(f'#include "data/{header.name}"', fuzzed)

    def test_every_target_has_seeds(self):
        targets = {path.stem.removeprefix("fuzz_") for path in (ROOT / "tests/fuzz").glob("fuzz_*.cc")}
        self.assertEqual(targets, {path.name for path in (ROOT / "tests/fuzz/seeds").iterdir() if any(path.iterdir())})


if __name__ == "__main__":
    unittest.main()
