"""Functions on strings, one value at a time. Characters are code points, counted from 1."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any


def like(text: str, pattern: str) -> bool | None:
    r"""`%` matches any text, `_` one character, `\` escapes the next character; NULL if the pattern ends in `\`."""
    parts: list[str] = []
    characters = iter(pattern)
    for c in characters:
        if c == "\\":
            escaped = next(characters, None)
            if escaped is None:
                return None
            parts.append(re.escape(escaped))
        else:
            parts.append({"%": ".*", "_": "."}.get(c) or re.escape(c))
    return re.fullmatch("".join(parts), text, re.DOTALL) is not None


def upper(text: str) -> str:
    """Upper case by Unicode's simple mapping: a character without a single capital stays; ß has one."""
    return "".join("ẞ" if c == "ß" else next((m for m in (c.upper(), c.title()) if len(m) == 1), c) for c in text)


def lower(text: str) -> str:
    """Lower case, each character by itself: Σ is always σ, also at the end of a word, and İ loses its dot."""
    return "".join(c.lower()[0] for c in text)


def substring(text: str, start: int, length: int | None = None) -> str | None:
    """The characters at positions start <= p < start + length; there are none before position 1."""
    if length is None:
        return text[max(start - 1, 0) :]
    if length < 0:
        return None
    return text[max(start - 1, 0) : max(start + length - 1, 0)]


SCALARS: dict[str, Callable[..., Any]] = {
    "||": lambda a, b: a + b,
    "concat": lambda *texts: "".join(t for t in texts if t is not None),
    "like": like,
    "length": len,
    "upper": upper,
    "lower": lower,
    "trim": lambda s: s.strip(" "),
    "ltrim": lambda s: s.lstrip(" "),
    "rtrim": lambda s: s.rstrip(" "),
    "reverse": lambda s: s[::-1],
    "left": lambda s, n: s[: max(n, 0)],
    "right": lambda s, n: s[max(len(s) - n, 0) :],
    "substring": substring,
    "replace": lambda s, old, new: s.replace(old, new) if old else s,
    "strpos": lambda s, part: s.find(part) + 1,
    "starts_with": lambda s, part: s.startswith(part),
    "ends_with": lambda s, part: s.endswith(part),
}
