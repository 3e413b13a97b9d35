"""Functions of strings as SQL."""

from __future__ import annotations

import re

from thalweg.algebra.expressions.render.dialect import Dialect, Site, Writer, bigint, both, constant, each, text
from thalweg.algebra.expressions.render.guards import checked, clamped, let, matches
from thalweg.core.types import INT64_MAX, DataType

_INT32_MAX = 2**31 - 1  # no string is longer, and Spark counts in 32 bits

# Letters whose capital is one letter only in Unicode's simple mapping.
_SMALL = "ßᾀᾁᾂᾃᾄᾅᾆᾇᾐᾑᾒᾓᾔᾕᾖᾗᾠᾡᾢᾣᾤᾥᾦᾧᾳῃῳ"
_CAPITAL = "ẞᾈᾉᾊᾋᾌᾍᾎᾏᾘᾙᾚᾛᾜᾝᾞᾟᾨᾩᾪᾫᾬᾭᾮᾯᾼῌῼ"

_WHOLE_PATTERN = r"(?s:[^\\]|\\.)*"  # no escape character at the end
_NEEDLESS_ESCAPE = r"(?s)(\\[%_\\])|\\(.|$)"
_KEPT = r"\1\2"


def _concat(site: Site) -> str:
    arguments = ", ".join(site.args)
    return f"concat({arguments})" if site.dialect is Dialect.DUCKDB else f"concat_ws('', {arguments})"


def _like(site: Site) -> str:
    """Remove needless escapes: Spark allows an escape before three characters only."""
    operand, dialect, known = site.args[0], site.dialect, site.constant(1)
    if isinstance(known, str):
        if not re.fullmatch(_WHOLE_PATTERN, known):
            return constant(None, DataType.BOOLEAN, dialect)
        if dialect is Dialect.SPARK:
            return f"({operand} LIKE {text(re.sub(_NEEDLESS_ESCAPE, _KEPT, known), dialect)})"
        return rf"({operand} LIKE {site.args[1]} ESCAPE '\')"

    def body(pattern: str) -> str:
        whole = matches(pattern, _WHOLE_PATTERN, dialect)
        if dialect is Dialect.SPARK:
            kept = f"regexp_replace({pattern}, {text(_NEEDLESS_ESCAPE, dialect)}, '$1$2')"
            return f"CASE WHEN {whole} THEN ({operand} LIKE {kept}) END"
        return rf"CASE WHEN {whole} THEN ({operand} LIKE {pattern} ESCAPE '\') END"

    return let("pattern_", site.args[1], dialect, body)


def _upper(site: Site) -> str:
    if site.dialect is Dialect.DUCKDB:
        return f"upper({site.args[0]})"

    def body(operand: str) -> str:
        # Spark's capitals can be several letters long (ß is SS); only then look at each letter.
        letters = (
            f"array_join(transform(split({operand}, ''), c_ -> CASE WHEN length(upper(c_)) = 1 THEN upper(c_) "
            f"ELSE translate(c_, '{_SMALL}', '{_CAPITAL}') END), '')"
        )
        return f"CASE WHEN length(upper({operand})) = length({operand}) THEN upper({operand}) ELSE {letters} END"

    return let("text_", site.args[0], site.dialect, body)


def _reverse(site: Site) -> str:
    if site.dialect is Dialect.SPARK:
        return f"reverse({site.args[0]})"
    # DuckDB's own keeps a letter and its accent together; array_to_string is a macro that repeats its argument.
    return let(
        "text_",
        site.args[0],
        site.dialect,
        lambda t: f"array_to_string(list_reverse(regexp_extract_all({t}, '(?s).')), '')",
    )


def _left_right(function: str) -> Writer:
    return lambda site: f"{function}({site.args[0]}, {_count(site, 1, 0)})"


def _substring(site: Site) -> str:
    operand = site.args[0]
    if len(site.args) == 2:
        return f"substring({operand}, {_count(site, 1, 1)})"
    first, length = site.constant(1), site.constant(2)
    if isinstance(first, int) and isinstance(length, int):
        if length < 0:
            return constant(None, DataType.STRING, site.dialect)
        begin, end = (max(1, min(n, _INT32_MAX)) for n in (first, first + length))
        return f"substring({operand}, {begin}, {end - begin})"

    def body(start: str, length: str) -> str:
        # Past the end of BIGINT is past the end of the string.
        stop = f"COALESCE({checked('+', start, length, site.dialect)}, {bigint(INT64_MAX, site.dialect)})"
        begin, end = (_int32(clamped(n, 1, _INT32_MAX, site.dialect)) for n in (start, stop))
        return f"CASE WHEN {length} >= 0 THEN substring({operand}, {begin}, GREATEST({end} - {begin}, 0)) END"

    start, count = site.args[1:]
    return let("start_", start, site.dialect, lambda s: let("length_", count, site.dialect, lambda n: body(s, n)))


def _count(site: Site, index: int, low: int) -> str:
    """An argument that counts characters, brought into the range that both engines take."""
    value = site.constant(index)
    if isinstance(value, int):
        return str(max(low, min(value, _INT32_MAX)))
    return _int32(clamped(site.args[index], low, _INT32_MAX, site.dialect))


def _int32(sql: str) -> str:
    return f"CAST({sql} AS INT)"


STRINGS: dict[str, Writer] = {
    "||": both("({0} || {1})"),
    "concat": _concat,
    "like": _like,
    "length": each("length({0})", "CAST(length({0}) AS BIGINT)"),
    "upper": _upper,
    # Spark has another small letter for a Σ at the end of a word, and keeps the dot of İ.
    "lower": each("lower({0})", "lower(translate({0}, 'Σİ', 'σi'))"),
    "trim": each("trim({0}, ' ')", "trim({0})"),
    "ltrim": each("ltrim({0}, ' ')", "ltrim({0})"),
    "rtrim": each("rtrim({0}, ' ')", "rtrim({0})"),
    "reverse": _reverse,
    "left": _left_right("left"),
    "right": _left_right("right"),
    "substring": _substring,
    "replace": both("replace({0}, {1}, {2})"),
    "strpos": each("strpos({0}, {1})", "CAST(instr({0}, {1}) AS BIGINT)"),
    "starts_with": each("starts_with({0}, {1})", "startswith({0}, {1})"),
    "ends_with": each("ends_with({0}, {1})", "endswith({0}, {1})"),
}
