"""Would catch a package that cannot be imported without PySpark, or an error that does not say what to install."""

from __future__ import annotations

import subprocess
import sys

CODE = """
import sys
sys.modules["pyspark"] = None
import thalweg as tw
from thalweg import *
import thalweg.cli.main
try:
    tw.Engine
except ImportError as error:
    print(error)
"""


def test_everything_else_does_without_it() -> None:
    done = subprocess.run([sys.executable, "-c", CODE], capture_output=True, text=True, check=False)
    assert done.stderr == ""
    assert done.stdout.splitlines() == [
        "thalweg.Engine needs PySpark, and the package pyspark is not installed",
        "hint: pip install 'thalweg[spark]'",
    ]
