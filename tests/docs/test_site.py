"""Would catch a page that the documentation site cannot show: a broken link, a docstring that no longer exists."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]


def test_the_site_is_built_without_a_warning(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "sphinx", "-q", "-W", "--keep-going", "-b", "html", "-d", tmp_path / "cache"]
    built = subprocess.run([*command, ROOT / "docs", tmp_path / "site"], capture_output=True, text=True, check=False)
    assert built.returncode == 0, built.stderr
    assert "Session" in (tmp_path / "site" / "api" / "local.html").read_text()
