"""Windows as operators: from the tuples of a stream to signed intervals. One file for each kind of window."""

from thalweg.kernel.windows.make import make_window

__all__ = ["make_window"]
