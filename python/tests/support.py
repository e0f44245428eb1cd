"""Shared by the tests."""
import os
import re

import pytest

#: The command line program, where there is one.
KWEAVE = os.environ.get("KWEAVE", "")

needs_program = pytest.mark.skipif(not KWEAVE, reason="KWEAVE does not name the program")


def named(value):
    """The text of a parameter as part of a test's name, which has to be the same in every process: no addresses."""
    return re.sub(r" at 0x[0-9a-f]+", "", str(value))
