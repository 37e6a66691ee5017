"""The OpenAPI document of the service, which generated types, tables and tests read."""

from functools import cache
from typing import Any


@cache
def service_openapi() -> dict[str, Any]:
    """Return the document, which nobody may change; the first call takes about a second.

    >>> service_openapi()["info"]["title"]
    'Topoloom'
    """
    from topoloom.app.api.main import create_app
    from topoloom.app.config import Settings

    # Nothing is opened, whatever database the settings name.
    return create_app(Settings(database_url="sqlite://")).openapi()
