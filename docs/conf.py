"""The documentation as a site: Sphinx reads the Markdown pages of this folder and the package's docstrings.

`make docs` builds it into docs/_site and fails on a broken link. Pages link to files of the repository as its readers
see them; here such links lead to the pages that `_pages_from_outside` copies, or become plain text.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from thalweg import __version__

DOCS = Path(__file__).parent
ROOT = DOCS.parent

project = "Thalweg"
author = "The Thalweg authors"
release = version = __version__
extensions = ["myst_parser", "sphinx.ext.autodoc", "sphinx.ext.viewcode"]
source_suffix = {".md": "markdown"}
root_doc = "index"
exclude_patterns = ["_site", "README.md", "report/results"]
myst_enable_extensions = ["colon_fence", "deflist"]
myst_heading_anchors = 4
suppress_warnings = ["myst.xref_ambiguous"]
default_role = "code"  # docstrings put code into single backquotes
autodoc_member_order = "bysource"
autodoc_typehints = "signature"
autodoc_default_options = {"members": True, "show-inheritance": True}
html_theme = "furo"
html_title = "Thalweg"
html_show_sphinx = False

# Pages that lie at the top of the repository, and what they are called on the site.
OUTSIDE = {
    "README.md": "readme",
    "CONTRIBUTING.md": "contributing",
    "CHANGELOG.md": "changelog",
    "SECURITY.md": "security",
}
# Pages that list the others of their folder.
LISTS = ("decisions/README", "report/README")
TOCTREE = "\n```{toctree}\n:hidden:\n:glob:\n*\n```\n"
LINK = re.compile(r"(!?)\[([^\]]*)\]\((?!https?:|#|mailto:)([^)#\s]+)(#[^)]*)?\)")


def setup(app: Any) -> None:
    """Called by Sphinx."""
    app.connect("builder-inited", _pages_from_outside)
    app.connect("source-read", _links_to_pages)
    app.connect("autodoc-process-docstring", _plain_text)


def _pages_from_outside(app: Any) -> None:
    """Copies the pages from the top of the repository, and makes one page of all examples."""
    for name, page in OUTSIDE.items():
        if (ROOT / name).exists():
            _write(page, f"<!-- {name} -->\n" + (ROOT / name).read_text())
    parts = ["# Examples", "", "Small programs to start from; the tests run all of them."]
    for path in sorted((ROOT / "examples").rglob("*")):
        if path.suffix in {".py", ".cql"}:
            kind = "python" if path.suffix == ".py" else "sql"
            parts += [
                "",
                f"## {path.relative_to(ROOT / 'examples')}",
                "",
                f"```{kind}",
                path.read_text().rstrip(),
                "```",
            ]
    _write("examples", "\n".join(parts) + "\n")


def _write(page: str, text: str) -> None:
    """Writes a page that is not kept in the repository, unless it is the same already."""
    file = DOCS / "outside" / f"{page}.md"
    file.parent.mkdir(exist_ok=True)
    if not file.exists() or file.read_text() != text:
        file.write_text(text)


def _links_to_pages(app: Any, name: str, source: list[str]) -> None:
    """Leads links that leave docs/ to the copied pages; a link to other files of the repository becomes plain text."""
    here = ROOT if name.startswith("outside/") else (DOCS / name).parent

    def linked(found: re.Match[str]) -> str:
        image, text, target, anchor = found[1], found[2], found[3], found[4] or ""
        path = (here / target).resolve()
        try:
            inside = path.relative_to(DOCS).as_posix()
        except ValueError:
            return _outside(text, path.relative_to(ROOT).as_posix(), anchor)
        if inside == "README.md":
            return f"[{text}](/index.md)"
        if inside.startswith("report/results"):
            return text
        if not path.exists():
            return found[0]  # Sphinx says that the link is broken
        return f"{image}[{text}](/{inside}{anchor})"

    if name == "outside/examples":
        return
    text = LINK.sub(linked, source[0])
    text = re.sub(r'<a id="([^"]+)"></a>', r"(\1)=", text)
    text = text.replace("```scenario", "```text")
    source[0] = text + TOCTREE if name in LISTS else text


def _plain_text(app: Any, what: str, name: str, obj: Any, options: Any, lines: list[str]) -> None:
    """Docstrings are plain text: a star outside of code is no emphasis (delta*, 2 * k), and code may have
    an ending (`Col`s).
    """
    for i, line in enumerate(lines):
        parts = line.split("`")
        parts[::2] = [part.replace("*", r"\*") for part in parts[::2]]
        lines[i] = re.sub(r"`([^`]+)`(?=\w)", r"`\1`\\ ", "`".join(parts))


def _outside(text: str, path: str, anchor: str) -> str:
    """The link to a file outside docs/."""
    if path in OUTSIDE and (ROOT / path).exists():
        return f"[{text}](/outside/{OUTSIDE[path]}.md{anchor})"
    if path.split("/")[0] == "examples":
        return f"[{text}](/outside/examples.md)"
    return text
