"""Would catch a page that the documentation site cannot show: a broken link, a docstring that no longer exists."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]


def test_the_site_is_built_without_a_warning(tmp_path: Path) -> None:
    options = ["-q", "-W", "--keep-going", "-b", "html", "-d", str(tmp_path / "cache")]
    command = [sys.executable, "-m", "sphinx", *options, str(ROOT / "docs"), str(tmp_path / "site")]
    built = subprocess.run(command, capture_output=True, text=True, check=False)
    assert built.returncode == 0, built.stderr
    assert "Session" in (tmp_path / "site" / "api" / "local.html").read_text()
