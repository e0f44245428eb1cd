"""Shared by the tests."""
import os

import pytest

#: The command line program, where there is one.
KWEAVE = os.environ.get("KWEAVE", "")

needs_program = pytest.mark.skipif(not KWEAVE, reason="KWEAVE does not name the program")
