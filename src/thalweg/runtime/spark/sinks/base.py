"""What a sink is."""

from __future__ import annotations

from typing import Protocol

from pyspark.sql import DataFrame


class Sink(Protocol):
    """Takes the changes of a micro-batch: the answer's columns, `_ts`, `_exp` and `_sign`.

    A row counts `_sign` times from `_ts` (NULL: ever since) until `_exp` (NULL: not known). After a crash Spark gives
    the last batch again, with the same number: a sink must then put it where it was, not beside it.
    """

    def write(self, changes: DataFrame, batch: int) -> None:
        """One micro-batch."""
