"""What browsers are told to do with answers, and with the pages of the documentation."""

import base64
import hashlib
import re

import pytest

from tests.cases import for_every
from topoloom.app.api.main import create_app
from topoloom.app.codegen.service_openapi import service_openapi

PATHS = service_openapi()["paths"]
PAGES = ("/docs", "/redoc", "/docs/oauth2-redirect")


@for_every("path", [*PATHS, "/none", "/openapi.json", *PAGES])
@pytest.mark.slow
def test_every_answer_is_taken_for_what_it_is_and_framed_by_nobody(still, path):
    headers = still.get(path.replace("{id}", "0" * 64)).headers
    assert headers["X-Content-Type-Options"] == "nosniff"
    assert headers["Referrer-Policy"] == "no-referrer"
    assert headers["Cross-Origin-Resource-Policy"] == "same-origin"
    assert "frame-ancestors 'none'" in headers["Content-Security-Policy"]
    assert headers["Content-Security-Policy"].startswith("default-src 'none'; ")
    assert "Server" not in headers
    assert headers["Cache-Control"]


def policy(client, page):
    """Return the directives of a page's policy."""
    text = client.get(page).headers["Content-Security-Policy"]
    return {words[0]: words[1:] for words in (part.split() for part in text.split("; "))}


@pytest.mark.parametrize("page", PAGES)
def test_pages_run_the_scripts_that_they_hold_and_no_others(still, page):
    directives = policy(still, page)
    assert "'unsafe-inline'" not in directives["script-src"]
    assert "'unsafe-eval'" not in directives["script-src"]
    body = still.get(page).text
    scripts = re.findall(r"<script>(.*?)</script>", body, re.S)
    digests = {
        f"'sha256-{base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()}'"
        for script in scripts
    }
    assert digests == set(directives["script-src"]) - {"'self'"}
    # No handler in an attribute, which a policy without unsafe-inline would not run.
    assert not re.search(r"<[^>]*\son\w+=", body)
    for source in re.findall(r'(?:src|href)="([^"]+)"', body):
        assert source.startswith("/")
        found = still.get(source)
        assert found.status_code == 200
        assert found.headers.get("Cache-Control") != "no-store"


def test_what_says_nothing_of_caches_is_not_kept(client):
    made = client.post("/v1/topologies", json={"recipe": "UniRing(5)"})
    assert made.headers["Cache-Control"] == "no-store"
    assert client.get("/v1/designs").headers["Cache-Control"] == "no-store"
    kept = client.get(made.headers["Location"]).headers["Cache-Control"]
    assert kept == "public, max-age=31536000, immutable"


def test_a_drawing_may_style_itself_and_run_nothing(settings):
    from fastapi import Response
    from fastapi.testclient import TestClient

    app = create_app(settings)
    app.add_api_route(
        "/drawing", lambda: Response("<svg xmlns='http://www.w3.org/2000/svg'/>",
                                     media_type="image/svg+xml"),
    )  # fmt: skip
    with TestClient(app, base_url="http://localhost") as client:
        told = client.get("/drawing").headers["Content-Security-Policy"]
    assert told.startswith("default-src 'none'; style-src 'unsafe-inline'; sandbox")
