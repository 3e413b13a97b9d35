r"""Text from data, made safe to print: characters that steer a terminal are shown as escapes.

A terminal obeys control characters: ESC starts commands that move the cursor, change the window's title or send
keystrokes back; characters for the direction of writing let a text look like another. In front of a person they become
`\x1b` and the like. Files, JSON and CSV for programs are not touched.
"""

from __future__ import annotations

import re

# C0 and DEL, C1, the marks and overrides of direction, line separators, and surrogates, which no encoding can print.
_STEERING = "\x00-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff"
_IN_A_CELL = re.compile(f"[{_STEERING}]")
_IN_LINES = re.compile(f"(?![\t\n])[{_STEERING}]")
_SHORT = {"\t": r"\t", "\n": r"\n", "\r": r"\r"}


def visible(text: str) -> str:
    r"""The text of one cell on one line.

    >>> print(visible("a\x1b[2Jb\n\u202ec"))
    a\x1b[2Jb\n\u202ec
    """
    return _IN_A_CELL.sub(_escape, text)


def visible_lines(text: str) -> str:
    r"""Text that may have several lines: newlines and tabs stay.

    >>> print(visible_lines("a\x1b\nb"))
    a\x1b
    b
    """
    return _IN_LINES.sub(_escape, text)


def visible_json(text: str) -> str:
    r"""JSON with the same meaning, whose strings hold no character that steers a terminal.

    >>> print(visible_json('{"a": "\x9b2J"}'))
    {"a": "\u009b2J"}
    """
    return _IN_LINES.sub(lambda found: f"\\u{ord(found[0]):04x}", text)


def _escape(found: re.Match[str]) -> str:
    code = ord(found[0])
    return _SHORT.get(found[0]) or (f"\\x{code:02x}" if code < 0x100 else f"\\u{code:04x}")
