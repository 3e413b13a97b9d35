"""Would catch times of wrong answers, processes that are left behind, and lines of code that are no code."""

from __future__ import annotations

import json
import sys
from dataclasses import replace
from pathlib import Path

from rich.console import Console

from cli.run import lines
from thalweg_benchmarks.peers.answers import Difference
from thalweg_benchmarks.peers.environments import PEERS
from thalweg_benchmarks.peers.latency import latency
from thalweg_benchmarks.peers.lines import lines_of_code
from thalweg_benchmarks.peers.outcome import PeerOutcome
from thalweg_benchmarks.peers.processes import run_process
from thalweg_benchmarks.peers.queries import QUERIES
from thalweg_benchmarks.peers.run import PROGRAMS, Setting, measure
from thalweg_benchmarks.peers.table import notes, table

BUSY = "import time\nkept = bytearray(300_000_000)\nend = time.time() + 1.5\nwhile time.time() < end: pass\n"
LESS_WITH_MORE = """
import sys, time
from pathlib import Path
if sys.argv[2] == "-":
    time.sleep(0.7 / len(list(Path(sys.argv[1]).glob("parquet/bid/*"))))
    sys.exit()
"""


def test_a_process_is_watched_with_all_that_it_starts(tmp_path: Path) -> None:
    code = f"import subprocess, sys\nsubprocess.run([sys.executable, '-c', {BUSY!r}])"
    done = run_process([sys.executable, "-c", code], 1, tmp_path, 60)
    assert done.failed == "" and done.seconds >= 1.5
    assert 280 < done.peak_mb < 700 and done.cpu_seconds > 0.3


def test_a_process_that_fails_or_takes_too_long_says_so(tmp_path: Path) -> None:
    assert run_process([sys.executable, "-c", "print(1 / 0)"], 1, tmp_path, 60).failed == (
        "ZeroDivisionError: division by zero"
    )
    child = "import subprocess, sys, os\nprint(os.getpid(), flush=True)\nsubprocess.run(['sleep', '77'])"
    slow = run_process([sys.executable, "-c", child], 1, tmp_path, 0.5)
    assert slow.failed.startswith("not done after") and slow.code is None
    assert not Path("/proc", slow.said.strip()).exists()


def test_times_are_taken_of_right_answers_only(tmp_path: Path) -> None:
    query = replace(QUERIES["nexmark-q2"], rows=320_000, compared=20_000)
    right = measure(query, PEERS["duckdb"], Setting(tmp_path, longer=0.0))  # so few rows may take no longer
    assert right.verdict == "right" and right.rows == 320_000
    assert right.rows_per_s is not None and right.rows_per_s > 0
    assert right.startup_s is not None and right.peak_mb is not None and right.peak_mb > 20
    wrong = measure(replace(query, expected=query.expected + " LIMIT 3"), PEERS["duckdb"], Setting(tmp_path))
    assert wrong.verdict == "wrong" and wrong.rows_per_s is None and wrong.why.startswith("extra")
    more = Setting(tmp_path, programs=tmp_path)
    (tmp_path / "duckdb").mkdir()
    program = (PROGRAMS / "duckdb" / "nexmark-q2.py").read_text().replace("import sys\n", LESS_WITH_MORE, 1)
    (tmp_path / "duckdb" / "nexmark-q2.py").write_text(program)
    noise = measure(query, PEERS["duckdb"], more)
    assert (noise.verdict, noise.rows_per_s) == ("right", None) and "give more with --rows" in noise.why
    assert notes([noise]) == [f"{PEERS['duckdb'].title}, nexmark-q2: right: {noise.why}"]
    (tmp_path / "duckdb" / "nexmark-q2.py").write_text("raise SystemError('no luck')\n")
    failed = measure(query, PEERS["duckdb"], more)
    assert (failed.verdict, failed.why, failed.lines) == ("failed", "SystemError: no luck", 1)


def test_lines_of_code() -> None:
    head = '"""About."""\n\nimport os  # for files\n\n\ndef f():\n    """Docs."""\n'
    assert lines_of_code(head + '    # why\n    return """\n    SQL\n    """\n') == 5


def test_the_table_has_a_column_for_each_peer() -> None:
    right = PeerOutcome("join", "thalweg", "right", lines=15, rows_per_s=280_400, startup_s=7.25, peak_mb=1536)
    wrong = PeerOutcome("join", "bytewax", "wrong", "missing (1,)", difference=Difference(10, 1, 0))
    cannot = PeerOutcome("nexmark-q6", "flink", "cannot express", "no such windows")
    console = Console(width=160, record=True, file=sys.stderr)
    console.print(table([right, wrong, cannot]))
    drawn = console.export_text()
    header = drawn.splitlines()[1]
    assert "Thalweg" in header and "Flink SQL" in header and "Spark" not in header
    for text in ("280 k/s", "7.2 s", "1.5 GB", "15 lines", "wrong: 1 of 10 rows missing, 0 extra", "cannot express"):
        assert text in drawn
    assert notes([right, wrong, cannot]) == [
        "Bytewax, join: wrong: missing (1,)",
        "Flink SQL, nexmark-q6: cannot express: no such windows",
    ]


def test_the_command_gives_a_line_for_each_outcome(tmp_path: Path) -> None:
    printed = lines(
        "bench", "peers", "--query", "nexmark-q1", "--peer", "duckdb", "--rows", 32_000, "--folder", tmp_path, "--json"
    )
    (outcome,) = map(json.loads, printed)
    assert (outcome["query"], outcome["peer"], outcome["verdict"]) == ("nexmark-q1", "duckdb", "right")
    assert outcome["missing"] == outcome["extra"] == 0 and outcome["expected"] > 20_000
    assert outcome["rows"] == 32_000
    assert (outcome["rows_per_s"] or 0) > 0 or "give more with --rows" in outcome["why"]  # so few may take no longer


def test_the_latency_of_a_program_that_sees_rows_after_a_while(tmp_path: Path) -> None:
    code = (
        "import sys, time\nfrom pathlib import Path\nknown = set()\n"
        "while True:\n"
        "    for file in set(Path(sys.argv[1]).glob('*.csv')) - known:\n"
        "        known.add(file)\n"
        "        time.sleep(0.05)\n"
        "        print('+I[seen, 1, ' + file.read_text().strip().split(',')[2] + ']', flush=True)\n"
        "    time.sleep(0.001)\n"
    )
    found = latency([sys.executable, "-c", code, str(tmp_path / "rows")], tmp_path / "rows", "", 20, {})
    assert found is not None and 50 <= found < 500
    assert latency(["sleep", "50"], tmp_path / "none", "", 0.1, {}) is None
