"""Would catch a package that needs PySpark, an error that does not say what to install, and a name that dir() hides."""

from __future__ import annotations

import subprocess
import sys

import thalweg as tw

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
print("Engine" in dir(tw), "Session" in dir(tw))
import pydoc
pydoc.render_doc(tw)
"""


def test_everything_else_does_without_it() -> None:
    done = subprocess.run([sys.executable, "-c", CODE], capture_output=True, text=True, check=False)
    assert done.stderr == ""
    assert done.stdout.splitlines() == [
        "thalweg.Engine needs PySpark, and the package pyspark is not installed",
        "hint: pip install 'thalweg[spark]'",
        "False True",
    ]


def test_names_on_spark_are_listed_where_spark_is_installed() -> None:
    assert {"Engine", "sinks", "sources", *tw.__all__} <= set(dir(tw))
