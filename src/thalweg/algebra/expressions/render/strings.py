"""Functions of strings as SQL."""

from __future__ import annotations

import re

from thalweg.algebra.expressions.render.dialect import Dialect, Site, Writer, bigint, both, constant, each, text
from thalweg.algebra.expressions.render.guards import checked, clamped, matches
from thalweg.core.types import INT64_MAX, DataType

_INT32_MAX = 2**31 - 1  # no string is longer, and Spark counts in 32 bits

# Letters whose capital is one letter only in Unicode's simple mapping.
_SMALL = "ßᾀᾁᾂᾃᾄᾅᾆᾇᾐᾑᾒᾓᾔᾕᾖᾗᾠᾡᾢᾣᾤᾥᾦᾧᾳῃῳ"
_CAPITAL = "ẞᾈᾉᾊᾋᾌᾍᾎᾏᾘᾙᾚᾛᾜᾝᾞᾟᾨᾩᾪᾫᾬᾭᾮᾯᾼῌῼ"

_WHOLE_PATTERN = r"(?s:[^\\]|\\.)*"  # no escape character at the end
_NEEDLESS_ESCAPE = r"(?s)(\\[%_\\])|\\(.|\z)"


def _concat(site: Site) -> str:
    arguments = ", ".join(site.args)
    return f"concat({arguments})" if site.dialect is Dialect.DUCKDB else f"concat_ws('', {arguments})"


def _like(site: Site) -> str:
    operand, pattern = site.args
    known = site.constant(1)
    if site.dialect is Dialect.SPARK:  # which refuses an escape before any other character
        if isinstance(known, str):
            pattern = text(re.sub(_NEEDLESS_ESCAPE.replace(r"\z", r"\Z"), r"\1\2", known), site.dialect)
        else:
            pattern = f"regexp_replace({pattern}, {text(_NEEDLESS_ESCAPE, site.dialect)}, '$1$2')"
        match = f"({operand} LIKE {pattern})"
    else:
        match = rf"({operand} LIKE {pattern} ESCAPE '\')"
    if not isinstance(known, str):
        return f"CASE WHEN {matches(site.args[1], _WHOLE_PATTERN, site.dialect)} THEN {match} END"
    return match if re.fullmatch(_WHOLE_PATTERN, known) else constant(None, DataType.BOOLEAN, site.dialect)


def _upper(site: Site) -> str:
    operand = site.args[0]
    if site.dialect is Dialect.DUCKDB:
        return f"upper({operand})"
    # Spark's capitals can be several letters long (ß is SS); only then look at each letter.
    letters = (
        f"array_join(transform(split({operand}, ''), c -> CASE WHEN length(upper(c)) = 1 THEN upper(c) "
        f"ELSE translate(c, '{_SMALL}', '{_CAPITAL}') END), '')"
    )
    return f"CASE WHEN length(upper({operand})) = length({operand}) THEN upper({operand}) ELSE {letters} END"


def _left_right(function: str) -> Writer:
    return lambda site: f"{function}({site.args[0]}, {_count(site, 1, 0)})"


def _substring(site: Site) -> str:
    operand, start = site.args[0], _count(site, 1, 1)
    if len(site.args) == 2:
        return f"substring({operand}, {start})"
    first, length = site.constant(1), site.constant(2)
    if isinstance(first, int) and isinstance(length, int):
        if length < 0:
            return constant(None, DataType.STRING, site.dialect)
        begin, end = (max(1, min(n, _INT32_MAX)) for n in (first, first + length))
        return f"substring({operand}, {begin}, {end - begin})"
    # Past the end of BIGINT is past the end of the string.
    stop = f"COALESCE({checked('+', site.args[1], site.args[2], site.dialect)}, {bigint(INT64_MAX, site.dialect)})"
    count = f"GREATEST({_int32(clamped(stop, 1, _INT32_MAX))} - {start}, 0)"
    return f"CASE WHEN {site.args[2]} >= 0 THEN substring({operand}, {start}, {count}) END"


def _count(site: Site, index: int, low: int) -> str:
    """An argument that counts characters, brought into the range that both engines take."""
    value = site.constant(index)
    if isinstance(value, int):
        return str(max(low, min(value, _INT32_MAX)))
    return _int32(clamped(site.args[index], low, _INT32_MAX))


def _int32(sql: str) -> str:
    return f"CAST({sql} AS INT)"


STRINGS: dict[str, Writer] = {
    "||": both("({0} || {1})"),
    "concat": _concat,
    "like": _like,
    "length": each("length({0})", "CAST(length({0}) AS BIGINT)"),
    "upper": _upper,
    # Spark minds the end of a word (Σ) and keeps dots (İ).
    "lower": each("lower({0})", "lower(translate({0}, 'Σİ', 'σi'))"),
    "trim": each("trim({0}, ' ')", "trim({0})"),
    "ltrim": each("ltrim({0}, ' ')", "ltrim({0})"),
    "rtrim": each("rtrim({0}, ' ')", "rtrim({0})"),
    # DuckDB's own keeps a letter and its accent together.
    "reverse": each("array_to_string(list_reverse(regexp_extract_all({0}, '(?s).')), '')", "reverse({0})"),
    "left": _left_right("left"),
    "right": _left_right("right"),
    "substring": _substring,
    "replace": both("replace({0}, {1}, {2})"),
    "strpos": each("strpos({0}, {1})", "CAST(instr({0}, {1}) AS BIGINT)"),
    "starts_with": each("starts_with({0}, {1})", "startswith({0}, {1})"),
    "ends_with": each("ends_with({0}, {1})", "endswith({0}, {1})"),
}
