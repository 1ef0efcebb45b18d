"""What no builder of the site looks at: links of the repository's own pages, and their size."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

REPOSITORY = Path(__file__).resolve().parents[1]
PAGES = sorted(
    path.relative_to(REPOSITORY).as_posix()
    for pattern in ("*.md", "docs/**/*.md", "examples/**/README.md", ".github/*.md")
    for path in REPOSITORY.glob(pattern)
)


@pytest.mark.parametrize("page", PAGES)
def test_links_lead_somewhere(page: str) -> None:
    text = re.sub(r"```.*?```", "", (REPOSITORY / page).read_text(), flags=re.S)
    for target in re.findall(r"\]\((?!\w+:|#)([^)#\s]+)", text):
        assert ((REPOSITORY / page).parent / target).exists(), f"{page}: {target}"


def test_the_readme_is_two_screens() -> None:
    assert len((REPOSITORY / "README.md").read_text().splitlines()) <= 120


def test_every_operator_page_is_listed() -> None:
    index = (REPOSITORY / "docs/ops/index.md").read_text()
    for path in (REPOSITORY / "docs/ops").glob("*.md"):
        assert path.name == "index.md" or f"]({path.name})" in index, path.name
