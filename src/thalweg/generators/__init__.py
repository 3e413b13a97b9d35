"""Streams that are made up, row by row from a seed: any slice of one can be made alone, and is always the same."""

from thalweg.generators.registry import Generator, make, names

__all__ = ["Generator", "make", "names"]
