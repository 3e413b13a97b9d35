"""Generated streams. A seed fixes every row, so any slice can be made without the rows before it."""

from thalweg.generators.registry import Generator, make, names

__all__ = ["Generator", "make", "names"]
