"""A real service, a real browser, and pages that fail on every error of the console."""

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest

from tests.app.test_service_process import service

PATIENCE = 180_000
"""Milliseconds that a page waits for what must appear."""

_VIOLATIONS = """
addEventListener("securitypolicyviolation", (event) => {
  console.error(`policy: ${event.violatedDirective} ${event.blockedURI}`);
});
"""


@pytest.fixture(scope="module")
def address(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """Return the address of a service of the module."""
    with service(tmp_path_factory.mktemp("page") / "page.db") as base:
        yield base


@pytest.fixture(scope="module")
def chromium() -> Iterator[Any]:
    """Return Debian's Chromium, without a window; skip where there is none."""
    found = shutil.which("chromium-headless-shell") or shutil.which("chromium")
    if found is None:
        pytest.skip("Chromium is not installed")
    playwright = pytest.importorskip("playwright.sync_api")
    with playwright.sync_playwright() as started:
        # Without a sandbox: the tests may run as root, and load pages of this repository alone.
        browser = started.chromium.launch(
            executable_path=found, args=["--no-sandbox"], timeout=2 * PATIENCE
        )
        yield browser
        browser.close()


@pytest.fixture
def visit(chromium: Any) -> Iterator[Any]:
    """Return a context manager that opens an address, and fails if the console has an error."""

    @contextmanager
    def opened(address: str, *, refusals: int = 0, **options: Any) -> Iterator[Any]:
        # `refusals`: requests that the service refuses, which Chromium logs as errors.
        page = chromium.new_page(**options)
        errors: list[str] = []
        page.set_default_timeout(PATIENCE)
        page.add_init_script(_VIOLATIONS)
        page.on("console", lambda one: errors.append(one.text) if one.type == "error" else None)
        page.on("pageerror", lambda error: errors.append(str(error)))
        page.goto(address)
        try:
            yield page
        finally:
            page.close()
        refused = [error for error in errors if error.startswith("Failed to load resource: ")]
        assert len(refused) <= refusals, errors
        assert [error for error in errors if error not in refused] == []

    yield opened
