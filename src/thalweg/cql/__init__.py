"""CQL text to logical plans."""

from thalweg.cql.binder.statements import RegisteredQuery
from thalweg.cql.compile import check_syntax, compile_query, compile_script
from thalweg.cql.register import register

__all__ = ["RegisteredQuery", "check_syntax", "compile_query", "compile_script", "register"]
