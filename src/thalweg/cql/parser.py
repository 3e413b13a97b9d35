"""The parser: FROM items with windows, ISTREAM and its kin, EXCEPT ALL ON, and CQL's statements.

Function names are left alone (`FUNCTIONS` is empty), so that the binder has the last word on them and an error can
say what the user wrote.
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from typing import Any, ClassVar, NoReturn

from sqlglot import Token, TokenType, exp
from sqlglot.errors import ParseError
from sqlglot.parser import Parser

from thalweg.core.errors import did_you_mean
from thalweg.cql.declarations import parse_create, parse_register
from thalweg.cql.syntax import FromItem, ToStream
from thalweg.cql.window_syntax import parse_window

COMMA = "COMMA"  # the kind of a join that is only a comma
STREAM_OPERATORS = ("ISTREAM", "DSTREAM", "RSTREAM")

_SET_OPERATIONS: dict[TokenType, type[exp.SetOperation]] = {
    TokenType.UNION: exp.Union,
    TokenType.EXCEPT: exp.Except,
    TokenType.INTERSECT: exp.Intersect,
}


# If one of these is misspelt, it is read as an alias, and the error is reported at the next word.
_KEYWORDS = (
    "FROM", "WHERE", "GROUP", "HAVING", "ORDER", "LIMIT", "UNION", "EXCEPT", "INTERSECT", "JOIN", "RANGE", "SLIDE",
    "RATE",
)  # fmt: skip


class CqlParseError(ParseError):
    """A syntax error with its place in the text, and perhaps a hint."""

    def __init__(self, message: str, start: int, end: int, hint: str | None = None) -> None:
        # sqlglot itself reads this list where it tries several readings of a text.
        super().__init__(message, errors=[{"description": message, "start": start, "end": end}])
        self.message, self.start, self.end, self.hint = message, start, end, hint


class CqlParser(Parser):
    """sqlglot's SQL parser with CQL's additions."""

    FUNCTIONS: ClassVar[dict[str, Any]] = {}
    NO_PAREN_FUNCTION_PARSERS: ClassVar = {"CASE": lambda self: self._parse_case()}
    FUNCTION_PARSERS: ClassVar[dict[str, Any]] = {
        name: Parser.FUNCTION_PARSERS[name] for name in ("CAST", "TRY_CAST", "EXTRACT", "POSITION", "SUBSTRING", "TRIM")
    }
    # A window may follow an alias, and these words start a clause rather than name a table.
    TABLE_ALIAS_TOKENS: ClassVar[set[TokenType]] = Parser.TABLE_ALIAS_TOKENS - {TokenType.RANGE, TokenType.ROWS}

    def raise_error(self, message: str, token: Token | None = None, hint: str | None = None) -> NoReturn:
        """Stop at `token`, or where the parser stands."""
        meant = did_you_mean(self._prev.text, _KEYWORDS) if not (token or hint) and self._prev else None
        if meant and self._prev.text.upper() not in _KEYWORDS:
            raise CqlParseError(f"unexpected {self._prev.text}", self._prev.start, self._prev.end + 1, meant)
        token = token or self._curr
        start, end = (token.start, token.end + 1) if token else (len(self.sql), len(self.sql))
        raise CqlParseError(_friendly(message, token.text if token else self.got), start, end, hint)

    @property
    def got(self) -> str:
        """What stands at this point of the text, for messages."""
        return self._curr.text if self._curr else "the end of the text"

    def _parse_statement(self) -> exp.Expr | None:
        if not self._curr or self._match(TokenType.SEMICOLON):  # a comment behind the last statement
            return None
        if self._match(TokenType.CREATE):
            return parse_create(self)
        if self._match_text_seq("REGISTER"):
            return parse_register(self)
        query = self.parse_query()
        if query is None:
            self.raise_error(
                f"expected a statement, got {self.got}",
                hint="statements start with SELECT, ISTREAM(, CREATE or REGISTER QUERY",
            )
        return query

    def parse_query(self) -> exp.Expr | None:
        """A SELECT, a set operation or a stream operator, with its ORDER BY and LIMIT."""
        query = self._parse_select(nested=True, parse_subquery_alias=False)
        return self._parse_query_modifiers(self._parse_set_operations(query)) if query else None

    def _parse_select_query(
        self,
        nested: bool = False,
        table: bool = False,
        parse_subquery_alias: bool = True,
        parse_set_operation: bool = True,
    ) -> exp.Expr | None:
        if self._at_stream_operator():
            stream = self._parse_stream_operator()
            return self._parse_set_operations(stream) if parse_set_operation else stream
        return super()._parse_select_query(nested, table, parse_subquery_alias, parse_set_operation)

    def _at_stream_operator(self) -> bool:
        return bool(
            self._curr and self._curr.text.upper() in STREAM_OPERATORS and self._next.token_type == TokenType.L_PAREN
        )

    def _parse_stream_operator(self) -> ToStream:
        token = self._curr
        self._advance(2)
        query = self.parse_query()
        if query is None:
            self.raise_error(
                f"{token.text} wants a query, got {self.got}",
                hint=f"{token.text.upper()}(SELECT ... FROM ...)",
            )
        self._match_r_paren()
        return self.expression(ToStream(this=query, kind=token.text.upper()), token=token)

    def _parse_table(self, *_: Any, alias_tokens: Collection[TokenType] | None = None, **__: Any) -> exp.Expr | None:
        if self._at_stream_operator():
            this: exp.Expr | None = self._parse_stream_operator()
        elif self._match(TokenType.L_PAREN):
            this = self.parse_query()
            if this is None:
                self.raise_error("expected a query between the parentheses", hint="FROM (SELECT ...) name")
            self._match_r_paren()
        else:
            if self._match(TokenType.STRING, advance=False):
                self.raise_error(f"expected the name of a stream or relation, got the string '{self._curr.text}'")
            this = self._parse_id_var(any_token=False)
            if this is None:
                self.raise_error(f"expected a stream, relation or subquery, got {self.got}")
        window = parse_window(self)
        alias = self._parse_table_alias(alias_tokens=alias_tokens or self.TABLE_ALIAS_TOKENS)
        late_window = parse_window(self)
        if window and late_window:
            self.raise_error("a stream takes one window, this is a second one", self._prev)
        return self.expression(FromItem(this=this, window=window or late_window, alias=alias))

    def _parse_join(self, *args: Any, **kwargs: Any) -> exp.Join | None:
        # sqlglot tries the item after a comma and swallows its error; ours must reach the user.
        if self._match(TokenType.COMMA):
            return self.expression(exp.Join(this=self._parse_table(), kind=COMMA))
        return super()._parse_join(*args, **kwargs)

    def _parse_csv(self, parse_method: Callable[[], Any], sep: TokenType = TokenType.COMMA) -> list[Any]:
        # sqlglot lets an item between two commas be absent.
        items = [parse_method()]
        while self._match(sep):
            items.append(parse_method())
            if items[-1] is None:
                self.raise_error(f"something is missing between the comma and {self.got}")
        return [item for item in items if item is not None]

    def _parse_projections(self) -> tuple[list[exp.Expr], list[exp.Expr] | None]:
        found, excluded = super()._parse_projections()
        if not found:
            self.raise_error(f"SELECT wants columns, got {self.got}", hint="SELECT * takes all")
        return found, excluded

    def parse_set_operation(
        self, this: exp.Expr | None, consume_pipe: bool = False, intersect_only: bool = False
    ) -> exp.SetOperation | None:
        """UNION, EXCEPT, INTERSECT, each with ALL or DISTINCT; EXCEPT ALL also ON (columns)."""
        operation = _SET_OPERATIONS.get(self._curr.token_type) if self._curr else None
        if operation is None or (intersect_only and operation is not exp.Intersect):
            return None
        token = self._curr
        self._advance()
        distinct = not self._match(TokenType.ALL)
        if distinct:
            self._match(TokenType.DISTINCT)
        on = self._parse_wrapped_csv(self._parse_column) if self._match(TokenType.ON) else None
        right = self._parse_select(nested=True, parse_set_operation=False)
        if right is None:
            self.raise_error(f"{token.text} wants a query on its right, got {self.got}")
        if operation is not exp.Intersect:  # INTERSECT binds tighter, which sqlglot does not know before 30.26
            while tighter := self.parse_set_operation(right, intersect_only=True):
                right = self._hoisted(tighter)
        return self.expression(operation(this=this, distinct=distinct, expression=right, on=on), token=token)

    def _hoisted(self, operation: exp.SetOperation) -> exp.SetOperation:
        """Move an ORDER BY or LIMIT of the last operand to the operation, from where sqlglot moves it on."""
        for name in self.SET_OP_MODIFIERS:
            if modifier := operation.expression.args.get(name):
                operation.expression.set(name, None)
                operation.set(name, modifier)
        return operation


def _friendly(message: str, got: str) -> str:
    """sqlglot's messages for the commonest mistakes, reworded for users of CQL."""
    if message.startswith("Required keyword"):
        return f"something is missing before {got}"
    if message.startswith("Invalid expression / Unexpected token"):
        return f"unexpected {got}"
    if message.startswith("Expecting "):
        return f"expected {message.removeprefix('Expecting ')}, got {got}"
    return message
