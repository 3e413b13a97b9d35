"""Let Spark's Python daemon import once what its workers need, as it forks them; else each spends a second on imports.

Python runs this module when it starts, if this folder is on its path.
"""

import sys
from importlib import import_module

if "pyspark.daemon" in sys.orig_argv:
    for module in ("pandas", "pyarrow.parquet", "pyspark.worker", "thalweg.runtime.spark.api.engine"):
        import_module(module)
