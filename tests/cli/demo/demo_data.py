"""Writes the demo's connections: `python tests/cli/demo/demo_data.py`. The same every time; a test compares.

In the manner of the LBL traces (who connected to whom, by which protocol, how many bytes), with a story: lena backs
up her disk from 07:01:40 to 07:02:20, and attic, called all the time, calls back after three minutes.
"""

from __future__ import annotations

import random
from pathlib import Path

import thalweg.cli.demo as package

START, END = 5, 240  # seconds after seven
HOSTS = {"elbe": 9, "rhine": 8, "oder": 6, "main": 5, "lena": 4, "volga": 3, "tagus": 2, "ebro": 1}
SERVERS = {"mail": 6, "news": 4, "files": 5, "web": 7}
QUIET = {"attic": 1, "printer": 2, "camera": 1, "museum": 1}  # asked now and then, and hardly ever ask
PROTOCOLS = {"smtp": (400, 9_000), "nntp": (900, 20_000), "ftp": (4_000, 120_000), "http": (300, 40_000)}
SPOKEN = {"mail": "smtp", "news": "nntp", "files": "ftp", "web": "http"}

Connection = tuple[float, str, str, str, int]


def connections() -> list[Connection]:
    """All connections in order of time."""
    dice = random.Random(1970)
    found = [_everyday(dice, dice.uniform(START, END)) for _ in range(230)]
    found += [(100 + 4 * i, "lena", "files", "ftp", dice.randint(300_000, 500_000)) for i in range(11)]
    found += [
        (dice.uniform(START, END), dice.choice([*SERVERS]), dice.choice([*HOSTS]), "smtp", 700) for _ in range(30)
    ]
    found += [(185.5, "attic", "mail", "smtp", 2_048), (214.0, "attic", "mail", "smtp", 1_024)]
    return sorted(found)


def _everyday(dice: random.Random, at: float) -> Connection:
    servers = {**SERVERS, **QUIET}
    (src,) = dice.choices([*HOSTS], [*HOSTS.values()])
    (dst,) = dice.choices([*servers], [*servers.values()])
    protocol = SPOKEN.get(dst, "http")
    low, high = PROTOCOLS[protocol]
    return at, src, dst, protocol, dice.randint(low, high)


def as_csv() -> str:
    """The text of the file."""
    lines = ["ts,src,dst,protocol,bytes"]
    for at, src, dst, protocol, size in connections():
        minutes, seconds = divmod(at, 60)
        lines.append(f"2026-01-31 07:{int(minutes):02}:{seconds:06.3f},{src},{dst},{protocol},{size}")
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    (Path(package.__path__[0]) / "connections.csv").write_text(as_csv())
