"""Settings: read once from the environment, checked at start, frozen.

Every setting is an environment variable with the prefix ``TOPOLOOM_``, for example
``TOPOLOOM_DATABASE_URL=postgresql+psycopg://user@host/topoloom``.
"""

import os
import re
from collections.abc import Mapping
from difflib import get_close_matches
from functools import cache
from ipaddress import ip_address
from pathlib import Path
from typing import Any, Literal, Self

from pydantic import BaseModel, ConfigDict, Field, field_validator, model_validator

from topoloom.synth.entry_points import version_suffix

PREFIX = "TOPOLOOM_"
"""What the names of all settings begin with in the environment."""

KERNEL_VERSION = "29" + version_suffix()
"""Part of every cache key.  Raise it whenever any computed answer changes; families that other
packages bring are part of it."""

HEAD = "0014"
"""The newest revision in ``migrations/``; kept here so that a start need not read them."""


_ORIGIN = re.compile(r"https?://[a-z0-9.-]+(:[0-9]{1,5})?|https?://\[[0-9a-f:]+\](:[0-9]{1,5})?")

DEFAULT_WAIT_SECONDS = 10
MAX_WAIT_SECONDS = 60
"""How long a request waits for its answer before it gets a job."""


@cache
def package_version() -> str:
    """Return the version of the installed package; its metadata take milliseconds to parse."""
    from importlib.metadata import version

    return version("topoloom")


def default_database_url() -> str:
    """Return the URL of the embedded database, in the XDG data directory."""
    base = os.environ.get("XDG_DATA_HOME") or str(Path.home() / ".local" / "share")
    return f"sqlite:///{Path(base) / 'topoloom' / 'topoloom.db'}"


def _cores() -> int:
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else 2


class Settings(BaseModel):
    """How this process runs; every field is ``TOPOLOOM_`` + its name in capitals.

    An unknown variable with that prefix is an error: a misspelled setting would otherwise be
    ignored.

    >>> Settings(port=9000).port
    9000
    """

    model_config = ConfigDict(frozen=True, extra="ignore")

    database_url: str = Field(
        default_factory=default_database_url,
        description="sqlite:///FILE or postgresql+psycopg://…; default: a file in "
        "$XDG_DATA_HOME/topoloom (~/.local/share/topoloom)",
    )
    host: str = Field(default="127.0.0.1", description="address that the service listens on")
    port: int = Field(
        default=8765, ge=0, le=65535, description="port that the service listens on; 0: a free one"
    )
    auth: Literal["open", "keys"] = Field(
        default="open",
        description="keys: all requests but probes and documentation need an API key; open: none "
        "needs one",
    )
    allow_open: bool = Field(
        default=False,
        description="1: without keys, listen also on an address that other machines reach",
    )
    rate_per_second: float = Field(
        default=50,
        ge=0,
        le=1_000_000,
        description="requests per second of a key, or of an address without one; 0: no limit; "
        "not applied while the service is open on loopback only",
    )
    rate_burst: int = Field(
        default=500,
        ge=1,
        le=1_000_000,
        description="requests at once of a key, or of an address without one",
    )
    auth_failures_per_minute: int = Field(
        default=60,
        ge=1,
        le=1_000_000,
        description="requests without a valid key, of one address, at once and each minute; more "
        "get 429; requests with a valid key are not counted",
    )
    max_connections: int = Field(
        default=1_000,
        ge=1,
        description="connections of one process; one more closes the slowest connection",
    )
    max_connections_per_address: int = Field(
        default=250,
        ge=1,
        description="connections of one address, unless the address is a trusted proxy",
    )
    header_seconds: float = Field(
        default=10, gt=0, description="longest time until the head of a request is complete"
    )
    body_seconds: float = Field(
        default=120, gt=0, description="longest time until the body of a request is complete"
    )
    stall_seconds: float = Field(
        default=30,
        gt=0,
        description="longest wait for a client that sends its body, or reads its answer, at less "
        "than 1 KiB per second",
    )
    trusted_hosts: str = Field(
        default="",
        description="host names of the service, separated by commas; default: on loopback those "
        "of this machine, else any",
    )
    cors_origins: str = Field(
        default="",
        description="origins, such as https://example.org, separated by commas, whose pages may "
        "call the service; *: any; default: none",
    )
    log_format: Literal["auto", "json", "text"] = Field(
        default="auto",
        description="form of the log; auto: text on a terminal, else JSON lines",
    )

    max_body_bytes: int = Field(
        default=32 * 2**20,
        ge=1024,
        description="largest request body, and largest input file of the command line",
    )
    max_unpacked_bytes: int = Field(
        default=2 * 2**30, ge=1024, description="largest input file after unpacking .gz"
    )
    max_export_bytes: int = Field(
        default=2**30, ge=1024, description="largest file in another format, before compression"
    )
    max_nodes: int = Field(
        default=16_384, ge=2, description="most nodes of a topology, and most hosts of a search"
    )
    max_links: int = Field(default=1_000_000, ge=2, description="most links of a topology")
    max_scheduled_nodes: int = Field(
        default=2_048, ge=2, description="most nodes for a schedule by bfb"
    )
    max_optimum_nodes: int = Field(default=8_192, ge=2, description="most nodes for the optimum")
    max_forest_nodes: int = Field(
        default=5_120, ge=2, description="most nodes for a schedule by forestcoll"
    )
    max_routed_nodes: int = Field(
        default=1_024,
        ge=2,
        description="most nodes for an all-to-all by mcf or shortest-paths",
    )
    max_lr_steps: int = Field(
        default=1_000_000, ge=1, description="most steps of a training job whose rate is tuned"
    )
    lr_lease_seconds: float = Field(
        default=120.0,
        ge=0,
        description="time after a trainer's last report before another trainer may take over its "
        "session",
    )

    max_seconds: float = Field(
        default=600, gt=0, description="longest computation of one answer; a longer one gets 422"
    )
    max_work_bytes: int = Field(
        default=6 * 2**30,
        ge=2**28,
        description="most memory of the computation of one answer; more gets 422",
    )
    max_working: int = Field(
        default_factory=_cores,
        ge=1,
        description="computations at once; twice as many more for owners that run nothing; "
        "default: the number of cores",
    )
    max_waiting: int = Field(default=256, ge=1, description="computations that wait; more get 503")
    max_waiting_per_owner: int = Field(
        default=64, ge=1, description="computations of one owner that wait; more get 429"
    )

    private_documents: bool = Field(
        default=True,
        description="what a key makes is visible to its owner alone until the owner shares it; 0: "
        "visible to every key",
    )
    share_answers: bool = Field(
        default=True,
        description="an owner gets the stored answer to a request that another owner sent before; "
        "0: each owner's answers are computed anew",
    )
    max_stored_bytes_per_owner: int = Field(
        default=2 * 2**30,
        ge=0,
        description="most bytes of documents, sessions and jobs of one owner of keys; 0: no limit",
    )
    cache_bytes: int = Field(
        default=10 * 2**30,
        ge=0,
        description="most bytes of all stored documents; beyond it, documents that can be computed "
        "again are deleted, least recently used first; 0: no limit",
    )
    keep_audit_days: float = Field(
        default=365, gt=0, description="days until entries of the audit log are deleted"
    )

    wait_seconds: int = Field(
        default=DEFAULT_WAIT_SECONDS,
        ge=0,
        le=MAX_WAIT_SECONDS,
        description="wait for an answer before the request becomes a job, for clients that state "
        "none",
    )
    run_worker: bool = Field(
        default=True, description="the service runs jobs itself, beside other workers"
    )
    worker_concurrency: int = Field(
        default=2,
        ge=1,
        le=1_000,
        description="jobs that a worker runs at once; as many more for owners without a running "
        "job",
    )
    worker_host: str = Field(
        default="127.0.0.1", description="address of the endpoint of `topoloom jobs worker`"
    )
    worker_port: int | None = Field(
        default=None,
        ge=0,
        le=65535,
        description="port of the probes and metrics of `topoloom jobs worker`; 0: a free one; "
        "empty: no endpoint",
    )
    max_queued_jobs: int = Field(default=10_000, ge=1, description="jobs that wait, of all owners")
    max_queued_jobs_per_owner: int = Field(
        default=2_500, ge=1, description="jobs of one owner that wait"
    )
    max_running_jobs_per_owner: int = Field(
        default=16, ge=1, description="jobs of one owner that run at once"
    )
    max_job_seconds: float = Field(default=3_600, gt=0, description="longest time of a job")
    max_job_bytes: int = Field(default=4 * 2**30, ge=2**28, description="most memory of a job")
    max_event_streams: int = Field(
        default=100, ge=1, description="event streams of jobs that are open at once, per process"
    )
    keep_jobs_days: float = Field(
        default=30, gt=0, description="days until ended jobs are deleted; their answers stay"
    )
    webhook_hosts: str = Field(
        default="",
        description="hosts, NAME or NAME:PORT separated by commas, that may receive messages about "
        "ended jobs; default: none",
    )
    webhook_secret: str = Field(
        default="",
        description="secret that signs these messages; two, separated by a comma, during a "
        "rotation; required with webhook hosts",
    )
    webhook_private: bool = Field(
        default=False, description="1: these hosts may have addresses that are not public"
    )

    def __init__(self, **given: Any) -> None:
        super().__init__(**{**_environment(os.environ, set(type(self).model_fields)), **given})

    @model_validator(mode="after")
    def _signed(self) -> Self:
        if self.webhook_hosts.strip() and not self.webhook_secret:
            raise ValueError("TOPOLOOM_WEBHOOK_SECRET must be set where WEBHOOK_HOSTS is")
        return self

    @field_validator("cors_origins")
    @classmethod
    def _origins(cls, value: str) -> str:
        for origin in _listed(value):
            if origin != "*" and not _ORIGIN.fullmatch(origin):
                raise ValueError(f"must be origins such as https://example.org; {origin!r} is none")
        return value

    @field_validator("webhook_secret")
    @classmethod
    def _secrets(cls, value: str) -> str:
        from topoloom.app.webhook_signatures import signing_keys

        if value:
            signing_keys(value)
        return value

    @classmethod
    def variable(cls, name: str) -> str:
        """Return the environment variable of a setting.

        >>> Settings.variable("max_nodes")
        'TOPOLOOM_MAX_NODES'
        """
        return PREFIX + name.upper()

    @property
    def is_private(self) -> bool:
        """Whether only programs on this machine reach the service, and anybody may ask.

        >>> Settings(auth="keys").is_private, Settings(auth="open").is_private
        (False, True)
        """
        return self.auth == "open" and is_loopback(self.host)

    def hosts_allowed(self, host: str) -> list[str]:
        """Return the names by which clients may call a service that listens on ``host``.

        A page of another site cannot then reach a service on this machine by a name of its
        own that leads here.

        >>> Settings().hosts_allowed("127.0.0.1")
        ['localhost', '127.0.0.1', '[::1]']
        >>> Settings(allow_open=True).hosts_allowed("0.0.0.0")
        ['*']
        """
        if named := _listed(self.trusted_hosts):
            return named
        return ["localhost", "127.0.0.1", "[::1]"] if is_loopback(host) else ["*"]

    @property
    def origins(self) -> list[str]:
        """Origins whose pages may call the service; empty for none.

        >>> Settings(cors_origins="https://a.example, http://localhost:3000").origins
        ['https://a.example', 'http://localhost:3000']
        """
        return _listed(self.cors_origins)


def _listed(text: str) -> list[str]:
    """Return the entries of a setting that commas separate."""
    return [entry.strip() for entry in text.split(",") if entry.strip()]


def _environment(variables: Mapping[str, str], known: set[str]) -> dict[str, str]:
    """Return the settings that the environment holds, in any case of letters.

    pydantic-settings ignores unknown variables of a prefix, so this check would remain; importing
    the package adds 0.04 s to the 0.26 s of CPU time of a cached answer on the command line.

    Raises:
        UnknownSetting: A variable begins with the prefix and names no setting.

    >>> _environment({"TOPOLOOM_PORT": "1", "topoloom_host": "a", "X": "2"}, {"port", "host"})
    {'port': '1', 'host': 'a'}
    """
    found = {
        name[len(PREFIX) :].lower(): value
        for name, value in variables.items()
        if name.upper().startswith(PREFIX)
    }
    for name in sorted(set(found) - known):
        raise UnknownSetting(name, get_close_matches(name, known, 1))
    return found


class UnknownSetting(ValueError):
    """A variable in the environment begins as settings do, and is none.

    >>> str(UnknownSetting("prot", ["port"]))
    'TOPOLOOM_PROT in the environment is no setting; did you mean TOPOLOOM_PORT?'
    """

    def __init__(self, name: str, near: list[str]) -> None:
        hint = f"; did you mean {PREFIX}{near[0].upper()}?" if near else ""
        super().__init__(f"{PREFIX}{name.upper()} in the environment is no setting{hint}")


def is_loopback(host: str) -> bool:
    """Tell whether only programs on this machine reach an address.

    >>> is_loopback("127.0.0.1"), is_loopback("localhost"), is_loopback("0.0.0.0")
    (True, True, False)
    """
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"
