"""Settings: read once from the environment, checked at start, frozen.

Every setting is an environment variable with the prefix ``TOPOLOOM_``, for example
``TOPOLOOM_DATABASE_URL=postgresql+psycopg://user@host/topoloom``.
"""

import os
from difflib import get_close_matches
from ipaddress import ip_address
from pathlib import Path

from pydantic import Field, model_validator
from pydantic_settings import BaseSettings, SettingsConfigDict

__all__ = ["KERNEL_VERSION", "Settings", "default_database_url", "is_loopback"]

KERNEL_VERSION = "5"
"""Part of every cache key.  Raise it whenever any computed answer changes."""


def default_database_url() -> str:
    """Return the URL of the embedded database, in the XDG data directory."""
    base = os.environ.get("XDG_DATA_HOME") or str(Path.home() / ".local" / "share")
    return f"sqlite:///{Path(base) / 'topoloom' / 'topoloom.db'}"


PREFIX = "TOPOLOOM_"


class Settings(BaseSettings):
    """How this process runs; every field is ``TOPOLOOM_`` + its name in capitals.

    A variable of that prefix that names no field is an error: a setting misspelt would
    otherwise be one ignored.

    >>> Settings(port=9000).port
    9000
    """

    model_config = SettingsConfigDict(env_prefix=PREFIX, frozen=True, extra="ignore")

    database_url: str = Field(
        default_factory=default_database_url,
        description="SQLAlchemy URL: SQLite (default) or postgresql+psycopg://…",
    )
    host: str = Field(default="127.0.0.1", description="address the service listens on")
    port: int = Field(default=8765, ge=0, le=65535, description="port; 0 takes a free one")
    allow_open: bool = Field(
        default=False,
        description="listen on an address that others reach, though anybody may ask anything",
    )
    trusted_hosts: str = Field(
        default="",
        description="names, separated by commas, by which clients may call the service; left "
        "empty, those of this machine while it listens on loopback, else any",
    )
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

    @model_validator(mode="after")
    def _every_variable_is_a_setting(self) -> "Settings":
        known = {PREFIX + name.upper() for name in type(self).model_fields}
        for name in sorted(os.environ):
            if name.upper().startswith(PREFIX) and name.upper() not in known:
                near = get_close_matches(name.upper(), known, 1)
                hint = f"; did you mean {near[0]}?" if near else ""
                raise ValueError(f"{name} in the environment is no setting{hint}")
        return self

    def hosts_allowed(self, host: str) -> list[str]:
        """Return the names by which clients may call a service that listens on ``host``.

        A page of another site cannot then reach a service on this machine by a name of its
        own that leads here.

        >>> Settings().hosts_allowed("127.0.0.1")
        ['localhost', '127.0.0.1', '[::1]']
        >>> Settings(allow_open=True).hosts_allowed("0.0.0.0")
        ['*']
        """
        named = [name.strip() for name in self.trusted_hosts.split(",") if name.strip()]
        if named:
            return named
        return ["localhost", "127.0.0.1", "[::1]"] if is_loopback(host) else ["*"]


def is_loopback(host: str) -> bool:
    """Whether only programs on this machine reach an address.

    >>> is_loopback("127.0.0.1"), is_loopback("localhost"), is_loopback("0.0.0.0")
    (True, True, False)
    """
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"
