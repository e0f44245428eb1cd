"""Plants one broken rule at a time and asks tools/check-layers to name it."""
import runpy
import shutil
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

SCRIPT = Path(__file__).parents[2] / "tools" / "check-layers"
FOLDERS = runpy.run_path(str(SCRIPT))["LAYERS"]


def check(files, without=None):
    """Exit status and output of the script on a tree that holds `files` ({path: text}) and every folder but `without`."""
    with tempfile.TemporaryDirectory() as scratch:
        root = Path(scratch)
        for folder in FOLDERS:
            (root / "src" / folder).mkdir(parents=True)
        for path in ["src/gram/gram.h", "src/base/threads.h"]:
            files.setdefault(path, "")
        for path, text in files.items():
            (root / path).parent.mkdir(parents=True, exist_ok=True)
            (root / path).write_text(text)
        if without:
            shutil.rmtree(root / "src" / without)
        result = subprocess.run([sys.executable, SCRIPT, root], text=True, capture_output=True, check=False)
        return result.returncode, result.stdout + result.stderr


class CheckLayersTest(unittest.TestCase):
    def assert_named(self, place, rule, files):
        status, output = check(files)
        self.assertEqual(status, 1)
        self.assertTrue(output.startswith(place + ": "), output)
        self.assertIn(rule, output)

    def test_flags(self):
        self.assert_named("src/gram/gram.h:2", "the library knows no flags", {"src/gram/gram.h": '\nFail("give --norm");\n'})

    def test_types_of_one_name(self):
        self.assert_named("src/gram/gram.h:2", "Evaluation is the name of another type, in include/kweave/evaluate.h",
                          {"include/kweave/evaluate.h": "struct Evaluation {\n};\n", "src/gram/gram.h": "\nstruct Evaluation final {\n};\n"})

    def test_allowed(self):
        status, output = check({
            "src/gram/a.cc": '#include <vector>\n#include "base/threads.h"\n#include "gram/gram.h"\n',
            "src/gram/CMakeLists.txt": "kweave_folder(NAME gram\n  SOURCES a.cc\n  USES kernel data\n  TESTS qp)",
            "include/kweave/model.h": '#include <string>\n#include "kweave/error.h"\n',
            "app/train.cc": '#include "kweave/model.h"\n#include "CLI/CLI.hpp"\n#include "common.h"\n',
            "app/common.h": "struct Part {\n};\n",
            "src/gram/gram.h": "struct Part;\nstruct Whole {\n};\n",
            "src/base/threads.h": "struct Part;\nstruct Whole::Half {\n};\ntemplate <>\nstruct Whole<int> {\n};\n",
        })
        self.assertEqual((status, output), (0, ""))

    def test_folder_below(self):
        self.assert_named("src/base/a.cc:2", "base must not include gram/gram.h",
                          {"src/base/a.cc": '\n#include "gram/gram.h"\n'})

    def test_solver_sees_kernels(self):
        self.assert_named("src/qp/a_test.cc:1", "qp must not include gram/gram.h",
                          {"src/qp/a_test.cc": '#include "gram/gram.h"\n'})

    def test_public_header_of_folder_below(self):
        self.assert_named("src/base/a.cc:1", "base must not include kweave/train.h",
                          {"src/base/a.cc": '#include "kweave/train.h"\n'})

    def test_link_list(self):
        self.assert_named("src/qp/CMakeLists.txt:1", "qp must not link gram",
                          {"src/qp/CMakeLists.txt": "kweave_folder(NAME qp SOURCES a.cc USES base gram)"})

    def test_library_out_of_its_folder(self):
        self.assert_named("src/qp/a.cc:1", "belongs to app alone", {"src/qp/a.cc": "#include <CLI/CLI.hpp>\n"})

    def test_public_header_includes_library(self):
        self.assert_named("include/kweave/model.h:1", "public and standard headers only",
                          {"include/kweave/model.h": "#include <fmt/core.h>\n"})

    def test_program_includes_source(self):
        self.assert_named("app/train.cc:1", "app uses public headers only",
                          {"app/train.cc": '#include "gram/gram.h"\n'})

    def test_unknown_folder(self):
        self.assert_named("src/other:1", "no place yet", {"src/other/a.cc": ""})

    def test_folder_that_is_not_there(self):
        status, output = check({}, without="loss")
        self.assertEqual(status, 1)
        self.assertIn("there is no folder src/loss", output)


if __name__ == "__main__":
    unittest.main()
