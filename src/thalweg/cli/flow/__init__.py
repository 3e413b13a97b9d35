"""`thalweg flow`: standing queries that share their work, kept in a folder."""

from thalweg.cli.flow.commands import flow

__all__ = ["flow"]
