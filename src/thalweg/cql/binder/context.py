"""What binding needs to know everywhere: the names in force, the text for carets, and which day today is."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace

from sqlglot import exp

from thalweg.algebra.catalog import Catalog, Entry, View
from thalweg.core.errors import ThalwegError
from thalweg.core.source_text import SourceText, Span
from thalweg.core.time import Instant


@dataclass(frozen=True)
class Context:
    """The catalogue, names from WITH before it, the text, and the start of today, if known, for bare times of day."""

    catalog: Catalog
    text: SourceText
    today: Instant | None = None
    local_views: dict[str, View] = field(default_factory=dict)

    def lookup(self, name: str) -> Entry:
        """The stream, relation or view called `name`; names from WITH come first."""
        return self.local_views.get(name.casefold()) or self.catalog.get(name)

    def with_view(self, view: View) -> Context:
        """The context inside a query that has `WITH view AS ...`."""
        return replace(self, local_views={**self.local_views, view.name.casefold(): view})

    def span(self, node: exp.Expr | None) -> Span | None:
        """The characters a syntax tree covers, as far as its tokens say."""
        if node is None:
            return None
        # An error in a set operation is shown at its keyword, not at both whole queries.
        nodes = [node] if isinstance(node, exp.SetOperation) else node.walk()
        places = [n.meta for n in nodes if "start" in n.meta]
        if not places:
            return None
        start, end = min(p["start"] for p in places), max(p["end"] for p in places) + 1
        return Span(self.text, start, _close_parentheses(self.text.text, start, end))

    @contextmanager
    def at(self, node: exp.Expr | None) -> Iterator[None]:
        """Give errors that are raised inside, and have no place in the text yet, the place of this node."""
        try:
            yield
        except ThalwegError as error:
            raise error.at(self.span(node)) from None


def _close_parentheses(text: str, start: int, end: int) -> int:
    """`end` moved over the closing parentheses that belong to what is covered: tokens do not record them."""
    missing = text.count("(", start, end) - text.count(")", start, end)
    while missing > 0 and end < len(text) and (text[end] == ")" or text[end].isspace()):
        missing -= text[end] == ")"
        end += 1
    return end
