"""Settings: read once from the environment, checked at start, frozen.

Every setting is an environment variable with the prefix ``TOPOLOOM_``, for example
``TOPOLOOM_DATABASE_URL=postgresql+psycopg://user@host/topoloom``.
"""

import os
from pathlib import Path

from pydantic import Field
from pydantic_settings import BaseSettings, SettingsConfigDict

__all__ = ["KERNEL_VERSION", "Settings", "default_database_url"]

KERNEL_VERSION = "5"
"""Part of every cache key.  Raise it whenever any computed answer changes."""


def default_database_url() -> str:
    """Return the URL of the embedded database, in the XDG data directory."""
    base = os.environ.get("XDG_DATA_HOME") or str(Path.home() / ".local" / "share")
    return f"sqlite:///{Path(base) / 'topoloom' / 'topoloom.db'}"


class Settings(BaseSettings):
    """How this process runs; every field is ``TOPOLOOM_`` + its name in capitals.

    >>> Settings(port=9000).port
    9000
    """

    model_config = SettingsConfigDict(env_prefix="TOPOLOOM_", frozen=True, extra="ignore")

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
