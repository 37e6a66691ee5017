"""The documentation beside the page: every page is served, and no link is dead."""

import json
import posixpath
import re
from functools import cache
from html.parser import HTMLParser
from pathlib import Path

import pytest
from fastapi.testclient import TestClient

from topoloom.app.api.main import create_app
from topoloom.app.config import Settings
from topoloom.app.web import documentation
from topoloom.app.web.assets import assets, document

ROOT = Path(__file__).parent.parent.parent
STATIC = ROOT / "app" / "web" / "static"
FILES = documentation.files()
PAGES = [name for name in FILES if name.endswith(".md")]
GUIDES = sorted(
    {
        (path.name, guide)
        for path in STATIC.glob("*.js")
        for guide in re.findall(r'"([\w/-]+\.md(?:#[^"]*)?)"', path.read_text())
    }
)
"""Module of the page, and a page of the documentation that the module links."""


@pytest.fixture(scope="module")
def service(tmp_path_factory):
    url = f"sqlite:///{tmp_path_factory.mktemp('documentation') / 'page.db'}"
    app = create_app(Settings(database_url=url, auth="keys", run_worker=False))
    with TestClient(app, base_url="http://localhost") as client:
        yield client


@cache
def links_of(name):
    """Return addresses, ids and inline styles of a page."""
    return Links(name)


class Links(HTMLParser):
    """Addresses, ids and inline styles of a page."""

    def __init__(self, name):
        super().__init__()
        self.addresses, self.ids, self.styles = [], [], []
        self.feed(document(name).content.decode())

    def handle_starttag(self, tag, attrs):
        for key, value in attrs:
            if key in ("href", "src"):
                self.addresses.append(value)
            elif key == "id":
                self.ids.append(value)
            elif key == "style" or key.startswith("on"):
                self.styles.append(value)


def is_dead(address, base):
    """Return whether an address of a page names no file of the service, or no heading."""
    path, _, anchor = address.partition("#")
    target = posixpath.normpath(posixpath.join("documentation", base, "..", path)) if path else None
    if target in (".", "docs", "documentation"):
        return False
    if target and target.startswith("page/"):
        return target.rpartition("/")[2] not in assets()
    name = target.removeprefix("documentation/") if target else base
    if name not in FILES:
        return True
    return bool(anchor) and anchor not in links_of(name).ids


@pytest.mark.parametrize("name", PAGES)
def test_every_link_of_a_page_leads_to_a_page_and_to_a_heading(name):
    links = links_of(name)
    dead = [one for one in links.addresses if not one.startswith("http") and is_dead(one, name)]
    assert dead == []
    assert links.styles == []
    assert len(links.ids) == len(set(links.ids))


def test_a_dead_link_is_found():
    assert is_dead("none.md", "index.md")
    assert is_dead("how-to/boxes.md#none", "index.md")
    assert not is_dead("how-to/boxes.md#boardfly", "index.md")


@pytest.mark.parametrize(("module", "guide"), GUIDES)
def test_every_guide_of_the_page_leads_to_a_page_and_to_a_heading(module, guide):
    assert not is_dead(guide, "index.md")


def test_every_view_of_the_page_has_a_guide():
    views = re.search(r"const VIEWS = \{([^}]*)\}", (STATIC / "main.js").read_text())[1]
    guides = re.search(r"const GUIDES = \{(.*?)\n\};", (STATIC / "main.js").read_text(), re.S)[1]
    named = {view.split(":")[0].strip() for view in views.split(",")}
    assert named == set(re.findall(r"^  (\w+): \[\[", guides, re.M))


def test_pages_and_pictures_need_no_key_and_run_no_inline_code(service):
    page = service.get("/documentation/how-to/use-the-page.md")
    assert page.headers["Content-Type"] == "text/html; charset=utf-8"
    assert "unsafe" not in page.headers["Content-Security-Policy"]
    assert "<h1 id=" in page.text
    assert service.get("/documentation/").text == service.get("/documentation/index.md").text
    tag = {"If-None-Match": page.headers["ETag"]}
    assert service.get("/documentation/how-to/use-the-page.md", headers=tag).status_code == 304
    for name, kind in (("page/design.png", "image/png"), ("plot-load.svg", "image/svg+xml")):
        picture = service.get(f"/documentation/images/{name}")
        assert picture.headers["Content-Type"].startswith(kind)
        assert picture.content == (ROOT / "docs" / "images" / name).read_bytes()


@pytest.mark.parametrize("name", ["none.md", "../pyproject.toml", "%2e%2e/README.md", "how-to"])
def test_nothing_but_the_documentation_is_sent(service, name):
    assert service.get(f"/documentation/{name}").status_code in (401, 404)


def test_the_search_of_the_page_knows_every_page():
    found = json.loads(assets()["documentation.json"].content)
    assert sorted(one["path"] for one in found) == sorted(PAGES)
    assert all(one["title"] for one in found)
