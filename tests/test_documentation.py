"""Links of the documentation lead somewhere, and the site needs no other host."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
DOCS = ROOT / "docs"
PAGES = sorted([ROOT / "README.md", ROOT / "CONTRIBUTING.md", *DOCS.rglob("*.md")])
FENCE = re.compile(r"^```.*?^```", re.M | re.S)


def anchors(page):
    """Return the anchors of a page, as GitHub and the site make them from headings."""
    headings = re.findall(r"^#+ (.*)$", FENCE.sub("", page.read_text()), re.M)
    return {re.sub(r"[^\w\- ]", "", one.lower()).replace(" ", "-") for one in headings}


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.relative_to(ROOT).as_posix())
def test_every_link_of_a_page_leads_to_a_file_and_to_a_heading(page):
    for target in re.findall(r"\]\(([^)\s]+)\)", FENCE.sub("", page.read_text())):
        if re.match("[a-z]+:", target):
            continue
        name, _, anchor = target.partition("#")
        there = (page.parent / name).resolve() if name else page
        assert there.exists(), target
        assert not anchor or anchor in anchors(there), target


def test_every_page_is_in_one_of_the_four_rooms_or_at_the_front():
    folders = {page.parent.relative_to(DOCS).as_posix() for page in DOCS.rglob("*.md")}
    assert folders == {".", "tutorials", "how-to", "reference", "explanation", "notes"}


@pytest.mark.slow
def test_the_site_builds_without_warnings_and_loads_nothing_from_other_hosts(tmp_path):
    pytest.importorskip("mkdocs", reason="the extra `docs` is not installed")
    command = [sys.executable, "-m", "mkdocs", "build", "--strict", "--site-dir", str(tmp_path)]
    environment = os.environ | {"NO_MKDOCS_2_WARNING": "1"}
    built = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True)
    assert built.returncode == 0, built.stderr
    loaded = re.compile(r"<(?:script|link|img|iframe)[^>]+(?:src|href)=\"?(?:https?:)?//", re.I)
    pages = list(tmp_path.rglob("*.html"))
    assert len(pages) > 30
    assert [page.name for page in pages if loaded.search(page.read_text())] == []


@pytest.mark.parametrize("floor", ["app", "schedules", "synth"])
def test_the_drawing_of_the_architecture_names_every_package(floor):
    drawing = (DOCS / "architecture.md").read_text().partition("```text\n")[2].partition("```")[0]
    part = re.search(rf"^{floor} (.*?)(?=^\w|\Z)", drawing, re.M | re.S)[1]
    packages = {path.parent.name for path in (ROOT / floor).glob("*/__init__.py")}
    assert packages <= set(re.findall(r"\w+", part))
