"""`thalweg bench flow`: many queries in one eddy, against the same queries run in other ways (MaddenEtAl2002)."""

from thalweg.bench.flow.run import run

__all__ = ["run"]
