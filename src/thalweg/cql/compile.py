"""Compiles CQL text to plans; every error says where in the text it is."""

from __future__ import annotations

from sqlglot import exp
from sqlglot.errors import ParseError, TokenError

from thalweg.algebra.catalog import Catalog
from thalweg.algebra.plan import Plan
from thalweg.core.errors import CqlSyntaxError, PlanError
from thalweg.core.source_text import SourceText, Span
from thalweg.core.time import Instant
from thalweg.cql.binder.context import Context
from thalweg.cql.binder.statements import RegisteredQuery, bind_statement
from thalweg.cql.dialect import parse_tree
from thalweg.cql.parser import CqlParseError
from thalweg.cql.syntax import Declaration

# By kind of node: the parts that binding reads, or refuses with a reason of their own.
_READ: dict[type[exp.Expr], frozenset[str]] = {
    exp.Select: frozenset(
        [
            *("with_", "expressions", "distinct", "from_", "joins", "where", "group", "having", "order", "limit"),
            *("offset", "qualify", "windows", "laterals", "connect", "into", "sample", "hint"),
        ]
    ),
    exp.Star: frozenset(),
    exp.Ordered: frozenset(["this", "desc", "nulls_first"]),
    exp.Limit: frozenset(["expression"]),
    exp.Order: frozenset(["expressions"]),
    exp.Group: frozenset(["expressions", "rollup", "cube", "grouping_sets", "totals", "all"]),
    exp.Cast: frozenset(["this", "to"]),
    exp.TryCast: frozenset(["this", "to", "safe"]),
    exp.Join: frozenset(["this", "side", "kind", "on", "using", "method"]),
    exp.In: frozenset(["this", "expressions", "query"]),
    exp.Like: frozenset(["this", "expression", "negate"]),
    exp.ILike: frozenset(["this", "expression", "negate"]),
    exp.Between: frozenset(["this", "low", "high"]),
    exp.Subquery: frozenset(["this", "with_", "order", "limit", "offset"]),
}


def compile_script(
    text: str, catalog: Catalog, name: str = "query", today: Instant | None = None
) -> list[RegisteredQuery]:
    """Carry out every statement of `text` on `catalog`; the queries among them, in order."""
    context = Context(catalog, SourceText(text, name), today)
    bound = [_bind(context, node) for node in _parse(context)]
    return [query for query in bound if query is not None]


def compile_query(text: str, catalog: Catalog, name: str = "query", today: Instant | None = None) -> Plan:
    """The plan of a text that is one query."""
    context = Context(catalog, SourceText(text, name), today)
    query = _bind(context, _one_query(context))
    assert query is not None
    return query.plan


def check_syntax(text: str, name: str = "query") -> None:
    """Raise a CqlSyntaxError if a text is not one query; its names are not looked up."""
    _one_query(Context(Catalog(), SourceText(text, name)))


def _one_query(context: Context) -> exp.Expr:
    nodes = _parse(context)
    if len(nodes) != 1 or isinstance(nodes[0], Declaration):
        raise CqlSyntaxError(
            f"expected one query, got {len(nodes)} statement{'s' * (len(nodes) != 1)}"
            + (" that declare something" if nodes and isinstance(nodes[0], Declaration) else ""),
            hint="CREATE and REGISTER go through execute(...), or through a .cql file",
        )
    return nodes[0]


def _bind(context: Context, node: exp.Expr) -> RegisteredQuery | None:
    try:
        refuse_leftovers(context, node)
        return bind_statement(context, node)
    except RecursionError:
        raise _too_deep() from None


def _too_deep() -> CqlSyntaxError:
    return CqlSyntaxError("the query is nested too deeply", hint="IN (list) says the same as a long chain of OR")


def _parse(context: Context) -> list[exp.Expr]:
    text = context.text
    try:
        return [node for node in parse_tree(text.text) if node is not None]
    except RecursionError:
        raise _too_deep() from None
    except CqlParseError as error:
        raise CqlSyntaxError(error.message, span=Span(text, error.start, error.end), hint=error.hint) from None
    except ParseError as error:
        first = error.errors[0] if error.errors else {}
        raise CqlSyntaxError(first.get("description") or str(error), span=_at(text, first)) from None
    except TokenError:
        start = _unclosed(text.text)
        raise CqlSyntaxError(
            "the text breaks off inside a string, a quoted name or a comment",
            span=None if start is None else Span(text, start, start + 1),
            hint="close it; a quote inside a string is written twice: 'it''s'",
        ) from None


def _at(text: SourceText, error: dict[str, object]) -> Span | None:
    begin, end = error.get("start"), error.get("end")
    if isinstance(begin, int) and isinstance(end, int):
        return Span(text, begin, end)
    line = error.get("line")
    if not isinstance(line, int):
        return None
    start = sum(len(row) + 1 for row in text.text.split("\n")[: line - 1])
    return Span(text, start, start + 1)


def _unclosed(text: str) -> int | None:
    """The start of the quote or comment that is not closed."""
    i = 0
    while i < len(text):
        for opening, closing in (("--", "\n"), ("/*", "*/"), ("'", "'"), ('"', '"'), ("`", "`")):
            if text.startswith(opening, i):
                end = text.find(closing, i + len(opening))
                if end < 0:
                    return i if opening != "--" else None
                i = end + len(closing) - 1
                break
        i += 1
    return None


def refuse_leftovers(context: Context, node: exp.Expr) -> None:
    """Refuse parts of the tree that no binder reads, instead of dropping them: sqlglot's SQL is larger than CQL."""
    for found in node.walk():
        known = _READ.get(type(found))
        if known is None:
            continue
        for part, value in found.args.items():
            if value and part not in known:
                place = value if isinstance(value, exp.Expr) and context.span(value) else found
                name = part.strip("_").replace("_", " ").upper()
                raise PlanError(f"{name} is not part of CQL", hint="see docs/grammar.md").at(context.span(place))
