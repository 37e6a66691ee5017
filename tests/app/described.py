"""The OpenAPI document of the service, made once for all tests of a process: it takes seconds."""

from functools import cache
from typing import Any

from topoloom.app.api.main import create_app
from topoloom.app.config import Settings


@cache
def openapi() -> dict[str, Any]:
    """Return the document; nobody may change it."""
    return create_app(Settings(database_url="sqlite://")).openapi()
