"""The files of the page: who gets them, how long browsers keep them, what they may load."""

import gzip
import json
import re
from pathlib import Path

import pytest
from fastapi.testclient import TestClient

from topoloom.app.api.main import create_app
from topoloom.app.config import Settings
from topoloom.app.requests.designs import DesignRequest
from topoloom.app.web.assets import assets, version

BROWSER = {"Accept": "text/html,application/xhtml+xml,*/*;q=0.8"}
STATIC = Path(__file__).parent.parent.parent / "app" / "web" / "static"
MODULES = sorted(STATIC.glob("*.js"))


@pytest.fixture(scope="module", params=["open", "keys"])
def service(request, tmp_path_factory):
    url = f"sqlite:///{tmp_path_factory.mktemp('page') / 'page.db'}"
    app = create_app(Settings(database_url=url, auth=request.param, run_worker=False))
    with TestClient(app, base_url="http://localhost") as client:
        yield client


def test_a_browser_gets_the_page_and_other_clients_get_a_problem(service):
    page = service.get("/", headers=BROWSER)
    assert page.status_code == 200
    assert page.headers["Content-Type"] == "text/html; charset=utf-8"
    for accept in ("*/*", "application/json", ""):
        other = service.get("/", headers={"Accept": accept})
        assert other.status_code in (401, 404)
        assert other.headers["Content-Type"] == "application/problem+json"


def test_the_page_refuses_what_every_route_refuses(service):
    unknown = service.get("/", params={"nodes": 12}, headers=BROWSER)
    assert unknown.status_code == 422
    assert "nodes" in unknown.text
    wrong = service.post("/", headers=BROWSER)
    assert wrong.status_code == 405
    assert wrong.headers["Allow"] == "GET, HEAD"


def test_the_policy_of_the_page_allows_files_of_the_service_and_no_inline_code(service):
    page = service.get("/", headers=BROWSER)
    policy = page.headers["Content-Security-Policy"]
    assert policy.startswith("default-src 'none'; script-src 'self'; style-src 'self';")
    assert "unsafe" not in policy
    assert not re.search(r"<script(?![^>]*\ssrc=)|<style|\sstyle=|\son\w+=|https?://", page.text)


def test_the_page_is_revalidated_and_its_files_are_kept_forever(service):
    page = service.get("/", headers=BROWSER)
    assert page.headers["Cache-Control"] == "no-cache"
    again = service.get("/", headers=BROWSER | {"If-None-Match": page.headers["ETag"]})
    assert (again.status_code, again.content) == (304, b"")
    named = re.findall(r'(?:src|href)="(page/[^"]+)"', page.text)
    own = {path.name for path in MODULES} - {"documentation.js"}
    assert {name.rpartition("/")[2] for name in named} >= own
    for name in named:
        file = service.get(f"/{name}")
        assert file.status_code == 200
        assert "immutable" in file.headers["Cache-Control"]
        tag = {"If-None-Match": file.headers["ETag"]}
        assert service.get(f"/{name}", headers=tag).status_code == 304


def test_a_file_is_sent_gzipped_to_those_who_take_gzip(service):
    path = f"/page/{version()}/main.js"
    plain = service.get(path, headers={"Accept-Encoding": "identity"})
    packed = service.get(path, headers={"Accept-Encoding": "gzip"})
    assert "Content-Encoding" not in plain.headers
    assert packed.headers["Content-Encoding"] == "gzip"
    assert plain.content == packed.content == (STATIC / "main.js").read_bytes()
    assert plain.headers["ETag"] != packed.headers["ETag"]


@pytest.mark.parametrize("name", ["none.js", "index.html", "..", "%2e%2e%2fassets.py"])
def test_only_files_of_this_version_of_the_page_are_sent(service, name):
    assert service.get(f"/page/{version()}/{name}").status_code in (401, 404)
    assert service.get("/page/0123456789abcdef/main.js").status_code == 404


def test_the_first_view_is_smaller_than_two_hundred_kilobytes():
    assert sum(len(asset.packed) for asset in assets().values()) < 200_000


def test_the_fields_of_the_forms_have_the_limits_of_the_requests():
    fields = json.loads(gzip.decompress(assets()["fields.json"].packed))
    schema = DesignRequest.model_json_schema()["properties"]["nodes"]
    assert fields["design"]["nodes"]["maximum"] == schema["maximum"]
    assert fields["design"]["nodes"]["minimum"] == schema["minimum"]


@pytest.mark.parametrize("path", MODULES, ids=lambda path: path.name)
def test_a_module_imports_files_that_exist_and_makes_no_markup_from_texts(path):
    text = path.read_text()
    for name in re.findall(r'from "\./([^"]+)"', text):
        assert (STATIC / name).exists(), name
    assert not re.search(r"innerHTML|outerHTML|insertAdjacentHTML|document\.write|eval\(", text)
    assert not re.search(r"https?://(?!www\.w3\.org/2000/svg)", text)
