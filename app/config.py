"""Settings: read once from the environment, checked at start, frozen.

Every setting is an environment variable with the prefix ``TOPOLOOM_``, for example
``TOPOLOOM_DATABASE_URL=postgresql+psycopg://user@host/topoloom``.
"""

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ConfigDict, Field

__all__ = ["HEAD", "KERNEL_VERSION", "PREFIX", "Settings", "default_database_url"]

PREFIX = "TOPOLOOM_"
"""What the names of all settings begin with in the environment."""

KERNEL_VERSION = "4"
"""Part of every cache key.  Raise it whenever any computed answer changes."""

HEAD = "0001"
"""The newest revision in ``migrations/``; kept here so that a start need not read them."""


def default_database_url() -> str:
    """Return the URL of the embedded database, in the XDG data directory."""
    base = os.environ.get("XDG_DATA_HOME") or str(Path.home() / ".local" / "share")
    return f"sqlite:///{Path(base) / 'topoloom' / 'topoloom.db'}"


class Settings(BaseModel):
    """How this process runs; every field is ``TOPOLOOM_`` + its name in capitals.

    >>> Settings(port=9000).port
    9000
    """

    model_config = ConfigDict(frozen=True, extra="ignore")

    database_url: str = Field(
        default_factory=default_database_url,
        description="SQLAlchemy URL: SQLite (default) or postgresql+psycopg://…",
    )
    host: str = Field(default="127.0.0.1", description="address the service listens on")
    port: int = Field(default=8765, ge=0, le=65535, description="port; 0 takes a free one")
    max_body_bytes: int = Field(
        default=32 * 2**20,
        ge=1024,
        description="largest request body, and largest input file on disk",
    )
    max_unpacked_bytes: int = Field(
        default=2 * 2**30, ge=1024, description="largest input file after unpacking .gz"
    )
    max_nodes: int = Field(
        default=16_384, ge=2, description="largest topology that is searched, built or measured"
    )
    max_links: int = Field(default=1_000_000, ge=2, description="most links of a topology")
    max_scheduled_nodes: int = Field(
        default=2_048, ge=2, description="largest topology that a schedule is generated for"
    )
    max_optimum_nodes: int = Field(
        default=8_192, ge=2, description="largest topology for ForestColl's optimum"
    )
    max_seconds: float = Field(
        default=600, gt=0, description="longest time that one answer of the service may take"
    )
    max_forest_nodes: int = Field(
        default=2_048, ge=2, description="largest topology for ForestColl's trees"
    )
    max_routed_nodes: int = Field(
        default=256, ge=2, description="largest topology for an all-to-all by routes"
    )

    def __init__(self, **given: Any) -> None:
        super().__init__(**{**_environment(os.environ), **given})

    @classmethod
    def variable(cls, name: str) -> str:
        """Return the environment variable of a setting.

        >>> Settings.variable("max_nodes")
        'TOPOLOOM_MAX_NODES'
        """
        return PREFIX + name.upper()


def _environment(variables: Mapping[str, str]) -> dict[str, str]:
    """Return the settings that the environment holds; capitals do not matter.

    >>> _environment({"TOPOLOOM_PORT": "1", "topoloom_host": "a", "PORT": "2"})
    {'port': '1', 'host': 'a'}
    """
    return {
        name[len(PREFIX) :].lower(): value
        for name, value in variables.items()
        if name.upper().startswith(PREFIX)
    }
