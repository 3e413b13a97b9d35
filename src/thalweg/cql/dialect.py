"""CQL as a sqlglot dialect: SQL's expressions and clauses from sqlglot, everything a stream adds from here."""

from __future__ import annotations

from typing import ClassVar

from sqlglot import Tokenizer as SqlTokenizer
from sqlglot import TokenType, exp
from sqlglot.dialects.dialect import Dialect
from sqlglot.errors import ErrorLevel

from thalweg.cql.parser import CqlParser


class Cql(Dialect):
    """The Continuous Query Language of Thalweg. See docs/grammar.md."""

    INTERSECT_BINDS_TIGHTER_THAN_UNION_AND_EXCEPT = True
    NULL_ORDERING = "nulls_are_last"
    SAFE_DIVISION = True

    Parser = CqlParser

    class Tokenizer(SqlTokenizer):
        """SQL's tokens; words that sqlglot would swallow as whole commands are plain words here."""

        IDENTIFIERS = ['"', "`"]
        COMMANDS: ClassVar[set[TokenType]] = set()
        KEYWORDS = {
            word: token
            for word, token in SqlTokenizer.KEYWORDS.items()
            if token not in SqlTokenizer.COMMANDS and token is not TokenType.HINT and not word.startswith("CURRENT_")
        }


def parse_tree(text: str) -> list[exp.Expr | None]:
    """The statements of `text` as syntax trees; ParseError and TokenError come from sqlglot."""
    dialect = Cql()
    parser = dialect.parser(error_level=ErrorLevel.IMMEDIATE)
    return parser.parse(dialect.tokenize(text), text)
