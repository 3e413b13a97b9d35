"""Errors that say what was wanted, what came, where, the candidates and a way out."""

from __future__ import annotations

import difflib
from collections.abc import Iterable

from thalweg.core.source_text import Span
from thalweg.core.visible import visible_lines

_LONGEST_TEXT, _LONGEST_NAME = 2_000, 100  # characters that are shown of a message, and of a name
_MOST_CANDIDATES = 50


class ThalwegError(Exception):
    """Any error that Thalweg raises on purpose.

    `message` says what was wanted and what came; `span` where; `candidates` what would have been
    accepted; `hint` a way out.
    """

    def __init__(
        self,
        message: str,
        *,
        span: Span | None = None,
        candidates: Iterable[str] = (),
        hint: str | None = None,
    ) -> None:
        self.message = message
        self.span = span
        self.candidates = tuple(candidates)
        self.hint = hint
        super().__init__(message)

    def __str__(self) -> str:
        lines = [shortened(self.message)]
        if self.span is not None:
            lines.append(self.span.caret())
        if self.candidates:
            few = [shortened(candidate, _LONGEST_NAME) for candidate in self.candidates[:_MOST_CANDIDATES]]
            more = len(self.candidates) - len(few)
            lines.append(f"candidates: {', '.join(few)}{f' and {more:,} more' if more else ''}")
        if self.hint:
            lines.append(f"hint: {shortened(self.hint)}")
        return visible_lines("\n".join(lines))  # messages quote data

    def at(self, span: Span | None) -> ThalwegError:
        """This error with a place, unless it already has one."""
        if self.span is None:
            self.span = span
        return self


class CqlSyntaxError(ThalwegError):
    """The text is not CQL."""


class NameNotFoundError(ThalwegError):
    """A stream, table, column or function that does not exist, or that could be more than one."""


class TypeMismatchError(ThalwegError):
    """An expression of a type that does not fit where it stands."""


class WindowError(ThalwegError):
    """A window where none may be, or one whose extent makes no sense."""


class PlanError(ThalwegError):
    """A plan that cannot be built, or that no strategy can run exactly."""


class DataError(ThalwegError):
    """A row that does not fit its stream or relation."""


class TooManyResultsError(ThalwegError):
    """A join would have more results in one batch than may exist at a time."""


class UserFunctionError(ThalwegError):
    """A user's function raised, or returned a value of another type than declared."""


class OutOfOrderError(DataError):
    """A row behind the clock of a stream that declared no lateness."""


class SuspendedError(ThalwegError):
    """A query of a flow is suspended, because it raised or exceeded a quota."""


class SnapshotError(ThalwegError):
    """A snapshot does not fit the operators that are to be restored from it."""


class CheckpointError(ThalwegError):
    """A query cannot resume from a checkpoint: a part is missing or damaged, or belongs to another query."""


class CheckpointWarning(UserWarning):
    """A part of a checkpoint is missing or damaged, and the query goes on nevertheless."""


class SinkError(ThalwegError):
    """A sink could not write a batch."""


class MissingPackageError(ThalwegError, ImportError):
    """A feature needs an optional package that is not installed."""


def shortened(text: str, longest: int = _LONGEST_TEXT) -> str:
    """The text, or the beginning and the end of one that is too long: a message may quote a name of a megabyte.

    >>> shortened("a" * 30 + "b" * 30, 30)
    'aaaaaaa... 46 more ...bbbbbbb'
    """
    if len(text) <= longest:
        return text
    kept = (longest - 15) // 2
    return f"{text[:kept]}... {len(text) - 2 * kept:,} more ...{text[-kept:]}"


def closest(name: str, candidates: Iterable[str]) -> str | None:
    """The candidate that `name` was probably meant to be, for "did you mean ...?"."""
    if len(name) > _LONGEST_NAME:
        return None
    by_fold = {c.casefold(): c for c in candidates}
    found = difflib.get_close_matches(name.casefold(), by_fold, n=1, cutoff=0.6)
    return by_fold[found[0]] if found else None


def did_you_mean(name: str, candidates: Iterable[str]) -> str | None:
    """A hint naming the closest candidate, or None."""
    found = closest(name, candidates)
    return f"did you mean {found}?" if found else None
