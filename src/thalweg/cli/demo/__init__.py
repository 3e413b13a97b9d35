"""`thalweg demo`: two standing queries over connections that ship with the package."""

from thalweg.cli.demo.command import demo

__all__ = ["demo"]
