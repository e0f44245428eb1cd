"""The page of `kweave report` in a real browser: nothing of a stranger's names runs, nothing is loaded, tables sort and filter, charts answer
to pointer and keys, and no page is wider than the screen, in light and in dark. Exit status 77 (skipped) where there is no Chromium."""
import math
import os
import random
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

from browser import Browser, find_browser

PROGRAM = os.environ["KWEAVE"]
HOSTILE = "<img src=x onerror=document.title='owned'>\"'&</script><script>document.title='owned'</script>"


def kweave(*arguments, cwd):
    subprocess.run([PROGRAM, *arguments], cwd=cwd, check=True, capture_output=True, timeout=120)


def write_view(path, rows, labels, names):
    with open(path, "w") as out:
        quoted = ['"' + name.replace('"', '""') + '"' for name in names]
        print("id", *(["label"] if labels else []), *quoted, sep=",", file=out)
        for i, row in enumerate(rows):
            print(f"s{i}", *([labels[i]] if labels else []), *row, sep=",", file=out)


def make_pages(folder):
    """Two classes with hostile names, three classes, and a regression with a thousand kernels."""
    generator = random.Random(1)
    rows = [[generator.gauss(0, 1) for _ in range(4)] for _ in range(120)]
    hostile = '"' + HOSTILE.replace('"', '""') + '"'
    binary = [hostile if row[0] + row[1] + generator.gauss(0, 0.5) > 0 else '"b<i>"' for row in rows]
    several = ["abc"[min(2, int(abs(row[0]) * 1.5))] for row in rows]
    target = [f"{row[0] ** 2 + row[1] + generator.gauss(0, 0.1):.6f}" for row in rows]
    names = [HOSTILE, "x<b>", "c", "d"]
    write_view(folder / "a.csv", [row[:2] for row in rows], binary, names[:2])
    write_view(folder / "b.csv", [row[2:] for row in rows], None, names[2:])
    views = ("--view", "one<u>=a.csv", "--view", "b&lt;=b.csv")
    kweave("train", *views, "--kernel", "linear", "--kernel", "rbf", "-o", "two.kweave", cwd=folder)
    kweave("report", "two.kweave", *views, "--title", HOSTILE, "-o", "two.html", cwd=folder)
    write_view(folder / "c.csv", rows, several, names)
    kweave("train", "c.csv", "--loss", "logistic", "-o", "three.kweave", cwd=folder)
    kweave("report", "three.kweave", "c.csv", "-o", "three.html", cwd=folder)
    write_view(folder / "d.csv", rows, target, names)
    kweave("train", "d.csv", "--task", "regress", "--kernel", "each(rbf(gamma=logspace(0.01,10,250)))", "--norm", "1", "-o", "many.kweave", cwd=folder)
    kweave("report", "many.kweave", "d.csv", "-o", "many.html", cwd=folder)
    kweave("report", "many.kweave", "-o", "alone.html", cwd=folder)


class Pages(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.scratch = tempfile.TemporaryDirectory()
        cls.folder = Path(cls.scratch.name)
        make_pages(cls.folder)
        cls.browser = Browser().__enter__()

    @classmethod
    def tearDownClass(cls):
        cls.browser.__exit__()
        cls.scratch.cleanup()

    def open(self, name, **options):
        page = self.browser.open(self.folder / name, **options)
        self.assertEqual(page.messages(), [])
        return page

    def test_nothing_of_names_runs_or_loads(self):
        for name in ("two.html", "three.html", "many.html", "alone.html"):
            page = self.open(name)
            self.assertNotEqual(page.run("document.title"), "owned")
            self.assertEqual(page.run("document.images.length"), 0)
            self.assertEqual(page.run("document.scripts.length"), 1)
            self.assertEqual(len(page.requests()), 1)
        page = self.open("two.html")
        self.assertIn(HOSTILE, page.run("document.querySelector('h1').textContent"))
        self.assertIn(HOSTILE, page.run("document.querySelector('#scores').textContent"))
        # The policy stops a script even if one got in.
        page.run("document.body.insertAdjacentHTML('beforeend', '<img src=x onerror=\"window.ran = true\">')")
        page.run("{ const s = document.createElement('script'); s.textContent = 'window.ran = true'; document.body.append(s); }")
        self.assertIsNone(page.run("window.ran"))

    def test_fits_phone_and_desk_in_both_colours(self):
        background = set()
        for name in ("two.html", "three.html", "many.html", "alone.html"):
            for width in (360, 1200):
                for dark in (False, True):
                    page = self.open(name, width=width, dark=dark)
                    self.assertLessEqual(page.run("document.documentElement.scrollWidth"), width, f"{name} at {width}")
                    self.assertEqual(page.run("[...document.querySelectorAll('svg text')].filter(t => /nan|inf/i.test(t.textContent)).length"), 0)
                    background.add((dark, page.run("getComputedStyle(document.body).backgroundColor")))
        self.assertEqual(len(background), 2)

    def test_text_stands_out_from_its_background(self):
        script = """(() => {
          const level = (text) => {
            const [r, g, b] = text.match(/[\\d.]+/g).map(Number).slice(0, 3).map((c) => (c /= 255) <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4);
            return 0.2126 * r + 0.7152 * g + 0.0722 * b;
          };
          const ratio = (a, b) => (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
          const back = level(getComputedStyle(document.querySelector("section")).backgroundColor);
          return [...document.querySelectorAll("section p, section td:not(.heat td), section th, section summary, section dt")]
            .map((e) => ratio(level(getComputedStyle(e).color), back)).reduce((a, b) => Math.min(a, b), 99);
        })()"""
        for dark in (False, True):
            # 4.5 is what the Web Content Accessibility Guidelines ask of text (level AA).
            self.assertGreater(self.open("two.html", dark=dark).run(script), 4.5)

    def test_a_thousand_kernels_sort_and_filter(self):
        page = self.open("many.html")
        visible = "[...document.querySelectorAll('#kernels tbody tr')].filter(row => !row.hidden)"
        self.assertEqual(page.run(f"{visible}.length"), 25)
        page.run("{ const f = document.querySelector('#kernels input'); f.value = 'data[2]'; f.dispatchEvent(new Event('input')); }")
        page.run("document.querySelector('#kernels .tools button').click()")
        self.assertEqual(page.run(f"{visible}.length"), 250)
        self.assertIn("250 of 1000", page.run("document.querySelector('#kernels [role=status]').textContent"))
        sort = "[...document.querySelectorAll('#kernels th button')].find(b => b.textContent.startsWith('Weight')).click()"
        weights = f"{visible}.map(row => Number(row.cells[1].dataset.key))"
        page.run(sort)
        found = page.run(weights)
        self.assertEqual(found, sorted(found, reverse=True))
        page.run(sort)
        self.assertEqual(page.run(weights), sorted(found))
        self.assertEqual(page.run("document.querySelectorAll('#kernels [aria-sort=ascending]').length"), 1)

    def test_charts_answer_to_pointer_and_keys(self):
        page = self.open("two.html")
        for name in ("#scores", "#convergence"):
            page.run(f"document.querySelector('{name} .chart > svg').focus()")
            page.press("ArrowRight")
            first = page.run("document.querySelector('#tip').textContent")
            page.press("ArrowRight")
            self.assertNotEqual(page.run("document.querySelector('#tip').textContent"), first)
            self.assertEqual(page.run("document.querySelectorAll('.at').length"), 1)
            page.press("Escape")
            self.assertTrue(page.run("document.querySelector('#tip').hidden"))
        page.run("document.querySelector('#convergence .chart').scrollIntoView()")
        x, y = page.run("(() => { const b = document.querySelector('#convergence circle').getBoundingClientRect(); return [b.x + 2, b.y + 2]; })()")
        page.move(x, y)
        self.assertIn("relative gap", page.run("document.querySelector('#tip').textContent"))

    def test_keyboard_reaches_everything(self):
        page = self.open("many.html")
        seen = set()
        for _ in range(60):
            page.press("Tab")
            seen.add(page.run("document.activeElement.tagName.toLowerCase()"))
        self.assertLessEqual({"a", "input", "button", "svg"}, seen)

    def test_prints(self):
        page = self.open("two.html", dark=True)
        page.print_to(self.folder / "two.pdf")
        self.assertGreater((self.folder / "two.pdf").stat().st_size, 20000)


if __name__ == "__main__":
    if find_browser() is None:
        print("skipped: no Chromium here (tools/install-dependencies --test)")
        sys.exit(77)
    unittest.main()
