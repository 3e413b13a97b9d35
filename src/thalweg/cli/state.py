"""`thalweg state`: the contents of a checkpoint."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import click

from thalweg.cli.output import console, say
from thalweg.cli.output.tables import Columns
from thalweg.runtime.distributed.checkpoint.check import check_checkpoint
from thalweg.runtime.distributed.checkpoint.export import export
from thalweg.runtime.distributed.checkpoint.folder import Checkpoint
from thalweg.runtime.distributed.checkpoint.inspection import CheckpointSummary, Shard, checkpoints, shards, summary
from thalweg.runtime.distributed.checkpoint.report import BAD_ROWS, LATE
from thalweg.runtime.distributed.ingest.side_outputs import rows_not_kept

DAMAGED = 1  # exit code if --check has found a damaged file


@click.command(short_help="Look into a checkpoint.")
@click.argument("checkpoint", metavar="CHECKPOINT")
@click.option("--stage", type=click.IntRange(min=0), help="Read the arrays of this stage's shards.")
@click.option("--shard", type=click.IntRange(min=0), help="Show only this shard.")
@click.option("--check", is_flag=True, help="Read every file, and say which are damaged; exit code 1 if any is.")
@click.option("--export", "export_to", metavar="FOLDER", help="Write the state as Parquet, a table for each buffer.")
@click.option("--json", "as_json", is_flag=True, help="One JSON object per query.")
def state(
    checkpoint: str, stage: int | None, shard: int | None, check: bool, export_to: str | None, as_json: bool
) -> None:
    """List the state of the queries of CHECKPOINT: stages, shards, tuples, bytes, and rows in side outputs.

    The column `groups` counts the groups of a shard that have any state.

    CHECKPOINT is the folder of one query, or a folder of such folders, as `thalweg run` writes it. The command only
    reads, so the queries may run meanwhile. With --stage it also lists all arrays of the state, and where each belongs.

    With --check it reads every file of a query that is stopped, and compares it with its checksum.

    With --export it writes the state to Parquet files in FOLDER, one for each buffer of each operator: stage, shard,
    group, operator, then the lanes. Strings are codes there, and strings.parquet has their texts.

    \b
    Examples:
      thalweg state checkpoints/
      thalweg state checkpoints/busy --stage 0 --shard 1
      thalweg state checkpoints/busy --json
      thalweg state checkpoints/ --check
      thalweg state checkpoints/busy --export tables/
    """
    if export_to is not None:
        places = checkpoints(Path(checkpoint))
        for place in places:
            folder = Path(export_to) / place.folder.name if len(places) > 1 else Path(export_to)
            say(console(), f"{place.folder}: {export(place, folder):,} tables in {folder}")
        return
    if check:
        whole = [_check(place, as_json) for place in checkpoints(Path(checkpoint))]
        if not all(whole):
            sys.exit(DAMAGED)
        return
    for place in checkpoints(Path(checkpoint)):
        found = [s for s in shards(place) if shard in (None, s.shard)]
        if as_json:
            click.echo(json.dumps({**summary(place).to_json(), "shards": [_tree(s, stage) for s in found]}))
        else:
            for line in _lines(summary(place), found, stage):
                say(console(), line)


def _check(place: Checkpoint, as_json: bool) -> bool:
    """Say which files of a checkpoint are damaged; whether there is none."""
    files = check_checkpoint(place)
    bad, size = [file for file in files if file.problem is not None], sum(file.size for file in files)
    if as_json:
        about = {"checkpoint": str(place.folder), "files": len(files), "bytes": size}
        click.echo(json.dumps({**about, "damaged": [file.to_json() for file in bad]}))
        return not bad
    for file in bad:
        say(console(), f"{place.folder}: {file.problem}", "bold red")
    line = (
        f"{len(bad)} of {len(files):,} files are damaged or missing" if bad else f"all {len(files):,} files are whole"
    )
    say(console(), f"{place.folder}: {line}, {size:,} bytes")
    return not bad


def _tree(shard: Shard, stage: int | None) -> dict[str, Any]:
    arrays = {"arrays": shard.arrays()} if stage == shard.stage else {}
    return {**shard.as_tree(), **arrays}


def _lines(about: CheckpointSummary, found: list[Shard], stage: int | None) -> Iterator[str]:
    yield f"{about.checkpoint}: {about.batches} batches done, strategy {about.strategy}"
    yield _layouts(about)
    yield from about.plan.split("\n")
    if not found:
        return
    columns = Columns(
        ["stage", "shard", "groups", "clock", "waiting", "tuples", "bytes", "files"],
        [True, True, True, False] + [True] * 4,
    )
    rows = [
        (
            s.stage,
            s.shard,
            len(s.report.groups),
            s.report.clock.show(s.report.now),
            s.report.waiting,
            s.report.stored,
            s.size,
            len(s.manifest.files),
        )
        for s in found
    ]
    lines = columns.lines(rows)
    yield from [columns.header(), *lines]
    yield f"in all {sum(s.report.stored for s in found):,} tuples, {sum(s.size for s in found):,} bytes"
    not_kept = rows_not_kept(about.side_outputs)
    for output, count in about.side_outputs.items():
        if output.kind in (LATE, BAD_ROWS):
            only_counted = f", of which {not_kept[output]:,} are not kept" if output in not_kept else ""
            yield f"side output: {count:,} {output}{only_counted}"
    for s in found:
        if s.stage == stage:
            yield f"stage {s.stage}, shard {s.shard}:"
            yield from (f"  {a['where']}: {a['dtype']} x {a['length']:,}  {a['first']}" for a in s.arrays())


def _layouts(about: CheckpointSummary) -> str:
    """The number of groups, and the number of shards since each change of layout."""
    since = [f"{layout.shards} shards from batch {layout.since} on" for layout in about.layouts]
    return f"{about.groups} groups; {', '.join(since)}"
