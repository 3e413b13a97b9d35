"""The lists in docs/checkpoint-format.md: `PYTHONPATH=tests python -m golden.listed` brings them up to date.

A kind or a name that is listed already may not change: whoever changes what it has gives it a new version, or another
name. Only while its version of Thalweg has not been released may it be listed anew, with --unreleased.
"""

from __future__ import annotations

import argparse
import importlib
import json
import pkgutil
import re
from collections.abc import Iterator, Mapping
from dataclasses import MISSING, fields, is_dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import thalweg
from golden.archive import HERE, VERSION, unpack
from thalweg.algebra.codec import names
from thalweg.kernel.state.snapshot import fields_of, kinds
from thalweg.kernel.state.upgrades import is_upgraded

PAGE = Path(__file__).parents[2] / "docs" / "checkpoint-format.md"

Listed = dict[str, str]  # by kind or name, what it has


def import_all() -> None:
    """All modules of Thalweg, so that all kinds and names are registered."""
    for module in pkgutil.walk_packages(thalweg.__path__, "thalweg."):
        if not module.name.endswith("__main__"):
            importlib.import_module(module.name)


def all_kinds() -> Listed:
    """The kinds of state, with their fields."""
    found = {kind: cls for kind, cls in kinds().items() if cls.__module__.startswith("thalweg.")}
    return {kind: _code(fields_of(cls)) for kind, cls in sorted(found.items())}


def all_names() -> Listed:
    """The parts of plans, with their fields; those with a default in brackets. Of an enum, its values."""
    found = {name: cls for name, cls in names().items() if cls.__module__.startswith("thalweg.")}
    return {name: _parts(cls) for name, cls in sorted(found.items())}


def _parts(cls: type[Any]) -> str:
    if not is_dataclass(cls):
        return "one of " + _code(member.value for member in cls)
    has_default = {f.name: f.default is not MISSING or f.default_factory is not MISSING for f in fields(cls)}
    return _code(f"[{name}]" if optional else name for name, optional in has_default.items())


def all_trees() -> Listed:
    """What is saved without a kind, by what it is of, as golden checkpoints hold it."""
    query, flow, queued = (_state(name) for name in ("join-relation-copied", "flow", "queued-nta"))
    pool = next(iter(_state("forgetting-group-by")["groups"].values()))["pipeline"]["pool"]
    group, place = next(iter(query["groups"].values())), next(iter(flow["groups"].values()))
    eddy, common = place["engine"]["backends"]
    return {
        "a shard": _code(query),
        "a query's `own` state of a shard": _code(query["own"]),
        "its `tables`, those that every shard knows as a whole": _code(query["own"]["tables"]),
        "a group of a query": _code(group),
        "a pipeline": _code(queued["network"]["pipeline"]),
        "a pipeline's `identity`": _code(queued["network"]["pipeline"]["identity"]),
        "a `pool` of strings": _code(pool),
        "a flow's `own` state of a shard": _code(flow["own"]),
        "a group of a flow": _code(place),
        "a flow's `engine`": _code(place["engine"]),
        "its eddy": _code(eddy),
        "its common plans": _code(common),
        "texts of queries": _code(place["engine"]["standing"]),
    }


def _state(name: str) -> Any:
    with TemporaryDirectory() as folder:
        _, checkpoint = unpack(HERE / VERSION / f"{name}.tar.xz", Path(folder))
        manifest = min(checkpoint.rglob("manifest-*.json"))
        return json.loads(manifest.read_bytes().splitlines()[1])


def _code(words: Any) -> str:
    return ", ".join(f"`{word}`" for word in words) or "nothing"


# -- the page

LISTS = {"kinds": all_kinds, "names": all_names, "trees": all_trees}
_HEADS = {"kinds": "kind", "names": "name", "trees": "of"}


def table(of: str, listed: Mapping[str, str]) -> str:
    """A list as Markdown has it."""
    rows = [f"| {name if of == 'trees' else f'`{name}`'} | {has} |" for name, has in listed.items()]
    return "\n".join([f"| {_HEADS[of]} | fields |", "|---|---|", *rows])


def on_page(page: str, of: str) -> tuple[str, str, str]:
    """The page before a list, the list, and the page after it."""
    found = re.search(rf"(?s)(.*<!-- {of} -->\n)(.*?)(\n<!-- end of {of} -->.*)", page)
    assert found is not None, f"{PAGE.name} has no place for the {of}"
    return found[1], found[2], found[3]


def changed(page: str) -> Iterator[str]:
    """The kinds and names whose entries on the page differ from the code's; those that are new are none of them.

    A part of plans may gain fields that have defaults. A kind may be gone if checkpoints with it are still read.
    """
    for of in ("kinds", "names"):
        now = LISTS[of]()
        rows = (line.strip("| ").split(" | ") for line in on_page(page, of)[1].splitlines()[2:])
        for name, before in ((name.strip("`"), has) for name, has in rows):
            after = now.get(name)
            if after is None and is_upgraded(name):
                continue
            if after != before and not (of == "names" and after is not None and _only_gained(before, after)):
                yield f"{name} had {before}; now it has {after or 'gone'}"


def _only_gained(before: str, after: str) -> bool:
    old, new = before.split(", "), after.split(", ")
    return [part for part in new if part in old] == old and all(part in old or part.startswith("`[") for part in new)


def main() -> None:
    """Bring the page up to date."""
    parser = argparse.ArgumentParser(description="List kinds and names in docs/checkpoint-format.md.")
    parser.add_argument("--unreleased", action="store_true", help="The changed ones have never been released.")
    given = parser.parse_args()
    import_all()
    page = PAGE.read_text(encoding="utf-8")
    differ = list(changed(page))
    if differ and not given.unreleased:
        parser.error(
            "these may not change, for checkpoints have them: give a kind the next version and upgrade the old one "
            "(docs/checkpoint-format.md), give a part of plans another name, or say --unreleased\n" + "\n".join(differ)
        )
    for of, listed in LISTS.items():
        before, _, after = on_page(page, of)
        page = before + table(of, listed()) + after
    PAGE.write_text(page, encoding="utf-8")


if __name__ == "__main__":
    main()
