"""The parts of `thalweg run`, `verify`, `demo` and `flow start` that need pyspark: imported only when they run."""
