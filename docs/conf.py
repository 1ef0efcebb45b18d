"""The documentation site: `sphinx-build -W docs build/docs`, with the extra `docs` installed.

The pages are plain Markdown that reads as well in the repository. Nothing is imported: neither the
package nor a compiler is needed.
"""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import Any

DOCS = Path(__file__).resolve().parent
ROOT = DOCS.parent
#: Pages of the site that stand elsewhere in the repository.
ELSEWHERE = {
    "changelog": ROOT / "CHANGELOG.md",
    "contributing": ROOT / "CONTRIBUTING.md",
    "examples": ROOT / "examples/README.md",
    "versions": ROOT / "examples/porting/README.md",
}

project = "pyaclnn"
copyright = "pyaclnn's authors, Apache-2.0"
(release,) = re.findall(
    r'define PYACLNN_VERSION "(.*)"', (ROOT / "include/pyaclnn/version.h").read_text()
)

extensions = ["myst_parser"]
myst_heading_anchors = 4

html_theme = "furo"
html_title = f"pyaclnn {release}"
html_static_path = ["_static"]
html_css_files = ["wide.css"]
html_copy_source = False
html_show_sphinx = False


def fill(app: Any, page: str, source: list[str]) -> None:
    """The text of pages that stand elsewhere, and links between them and those below docs/."""
    path = ELSEWHERE.get(page, DOCS / f"{page}.md")
    own = {file: DOCS / f"{name}.md" for name, file in ELSEWHERE.items()}

    def link(found: re.Match[str]) -> str:
        target = Path(os.path.normpath(path.parent / found[1]))
        return f"]({os.path.relpath(own.get(target, target), (DOCS / page).parent)}"

    source[0] = re.sub(r"\]\((?!\w+:|#)([^)#\s]+)", link, path.read_text())


def setup(app: Any) -> None:
    app.connect("source-read", fill)
