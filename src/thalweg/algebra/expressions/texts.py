"""Which texts CAST reads, in the part of regular expressions that Python, RE2 and Java share.

Spaces around a text do not matter; what does not match as a whole is cast to NULL.
"""

from __future__ import annotations

import re

BIGINT_TEXT = r"[+-]?[0-9]+"
DOUBLE_TEXT = r"[+-]?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][+-]?[0-9]+)?|[+-]?[iI][nN][fF](?:[iI][nN][iI][tT][yY])?"

# Compared in lower case.
TRUE_TEXTS = ("true", "t", "yes", "y", "1")
FALSE_TEXTS = ("false", "f", "no", "n", "0")

_DATE = (
    r"(?P<year>[1-9][0-9]{3}|0[1-9][0-9]{2}|00[1-9][0-9]|000[1-9])"
    r"-(?P<month>0[1-9]|1[0-2])-(?P<day>0[1-9]|[12][0-9]|3[01])"
)
_TIME = r"(?P<hour>[01][0-9]|2[0-3]):(?P<minute>[0-5][0-9])(?::(?P<second>[0-5][0-9])(?:\.(?P<fraction>[0-9]{1,9}))?)?"

# ISO 8601 in UTC, years 1 to 9999; six digits of a second count. The 31st of June matches and is refused afterwards.
TIMESTAMP_FIELDS = rf"{_DATE}(?:[ T]{_TIME}Z?)?"
TIMESTAMP_TEXT = re.sub(r"\?P<\w+>", "?:", TIMESTAMP_FIELDS)  # Java's syntax for named groups differs
