"""Syntax nodes that CQL has and SQL has not: windows, relation-to-stream operators and declarations."""

from __future__ import annotations

from sqlglot import exp


class Extent(exp.Expression):
    """A length of time or a distance of values: a number and perhaps a unit."""

    arg_types = {"this": True, "unit": False}


class StreamWindow(exp.Expression):
    """What stands between the brackets; the args that are set say which kind it is."""

    arg_types = {
        "kind": True,  # NOW, UNBOUNDED, RANGE, ROWS, PARTITION, LANDMARK or VALUE
        "rows": False,
        "rows_slide": False,
        "range": False,
        "slide": False,
        "origin": False,
        "partition": False,
        "on": False,
        "start": False,
        "end": False,
    }


class FromItem(exp.Expression):
    """An item of FROM: a name or a query, with its window and alias."""

    arg_types = {"this": True, "window": False, "alias": False}


class ToStream(exp.Expression, exp.Query):
    """ISTREAM(query), DSTREAM(query) or RSTREAM(query)."""

    arg_types = {"this": True, "kind": True, "with_": False, "order": False, "limit": False, "offset": False}


class Declaration(exp.Expression):
    """A statement that gives a name to something."""

    @property
    def name_node(self) -> exp.Expr:
        """The identifier that is declared."""
        node: exp.Expr = self.args["this"]
        return node


class CreateStream(Declaration):
    """CREATE STREAM name (columns) [TIMESTAMP BY column] [LATENESS extent] [RATE rows [PER extent]]."""

    arg_types = {"this": True, "columns": True, "timestamp": False, "lateness": False, "rate": False}


class CreateRelation(Declaration):
    """CREATE RELATION name (columns, key) [ROWS rows], or the same with NRR."""

    arg_types = {"this": True, "columns": True, "key": False, "retroactive": True, "rows": False}


class CreateView(Declaration):
    """CREATE VIEW name [(columns)] AS query."""

    arg_types = {"this": True, "columns": False, "query": True}


class RegisterQuery(Declaration):
    """REGISTER QUERY name AS query."""

    arg_types = {"this": True, "query": True}


class ColumnDeclaration(exp.Expression):
    """A column's name and type, whether it is the primary key, and how many values it has."""

    arg_types = {"this": True, "type_name": True, "primary": False, "distinct": False}


class Rate(exp.Expression):
    """How many rows come, and in how much time."""

    arg_types = {"this": True, "per": False}
