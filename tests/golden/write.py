"""Writes golden checkpoints: `PYTHONPATH=tests python -m golden.write`.

Files that are there stay as they are: they stand for what users have on their disks. Only while a version has not been
released may its own files be written anew, with --again and the names of the cases that have changed.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory

from golden import engines, flows, queries, queued
from golden.archive import HERE, VERSION, Case, keep_last, pack
from golden.cases import QUERIES, QUEUED
from thalweg.core.forgetting import FORGETTING

CASES: dict[str, Callable[[Path], Case]] = {
    **{asked.name: partial(queries.write, asked) for asked in QUERIES},
    **{asked.name: partial(queued.write, asked) for asked in QUEUED},
    **{f"engine-{policy}": partial(engines.write, policy) for policy in engines.POLICIES},
    "engine-forgetting": partial(engines.write, "tickets", name="engine-forgetting"),
    "flow": flows.write,
}


def main() -> None:
    """Write the golden files that are not there."""
    parser = argparse.ArgumentParser(description="Write golden checkpoints.")
    parser.add_argument("names", nargs="*", metavar="NAME", help="Cases; without any, all that have no file.")
    parser.add_argument("--again", action="store_true", help="Also write those that there are.")
    given = parser.parse_args()
    FORGETTING.every_batch = True  # so that checkpoints are of states that have forgotten something
    unknown = sorted(set(given.names) - CASES.keys())
    if unknown:
        parser.error(f"there is no case {unknown[0]}; there are {', '.join(CASES)}")
    for name in given.names or CASES:
        file = HERE / VERSION / f"{name}.tar.xz"
        if file.exists() and not given.again:
            if given.names:
                parser.error(f"{file} is there, and users' checkpoints are like it; --again writes it anew")
            continue
        with TemporaryDirectory() as folder:
            checkpoint = Path(folder)
            case = CASES[name](checkpoint)
            keep_last(checkpoint)
            pack(file, case, checkpoint)
        print(f"{name}: {file.stat().st_size} bytes")


if __name__ == "__main__":
    main()
