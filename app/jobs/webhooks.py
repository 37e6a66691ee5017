"""Webhooks: a signed POST when a job has ended, to hosts that the configuration allows.

A message is delivered at least once, with at most `ATTEMPTS` attempts and growing pauses.  Each
attempt resolves the host name once, checks the address, and connects to the checked address;
changing the DNS entry after the check has no effect.  Redirects are not followed.
"""

import hashlib
import hmac
import http.client
import ipaddress
import logging
import socket
import ssl
import time
from collections.abc import Callable
from dataclasses import dataclass
from importlib.metadata import version
from threading import Event, Thread
from typing import NamedTuple
from urllib.parse import urlsplit

from sqlalchemy import Engine, select, update
from sqlalchemy.exc import SQLAlchemyError

from topoloom.app.jobs import queries
from topoloom.app.jobs.errors import WebhookRefused
from topoloom.app.jobs.model import Job, JobId
from topoloom.app.store.errors import NotStored
from topoloom.app.store.tables import MAX_URL, WebhookRow

log = logging.getLogger(__name__)

SIGNATURE = "Topoloom-Signature"
"""Header of a message: ``sha256=`` and the HMAC of its body, in hexadecimal."""

ATTEMPTS = 8
"""So often a message is tried; with these pauses, for 21 minutes."""

FIRST_PAUSE_SECONDS = 10.0
TIMEOUT_SECONDS = 10.0
LEASE_SECONDS = 60.0
LOOK_SECONDS = 5.0
PORTS = {"http": 80, "https": 443}


class Target(NamedTuple):
    """Where a message goes."""

    scheme: str
    host: str
    port: int
    path: str


@dataclass(frozen=True, slots=True)
class WebhookRules:
    """Allowed hosts, each ``NAME`` or ``NAME:PORT``, and the secret that signs messages.

    ``private`` allows addresses that are not of the public internet.

    >>> rules = WebhookRules(("hooks.example", "ci.example:8443"), "secret")
    >>> rules.target("https://hooks.example/done?x=1")
    Target(scheme='https', host='hooks.example', port=443, path='/done?x=1')
    >>> rules.target("https://ci.example/")
    Traceback (most recent call last):
    ...
    topoloom.app.jobs.errors.WebhookRefused: webhook: must go to a host that \
TOPOLOOM_WEBHOOK_HOSTS names; ci.example:443 is none
    """

    hosts: tuple[str, ...] = ()
    secret: str = ""
    private: bool = False

    def target(self, url: str) -> Target:
        """Return where a URL leads, or raise `WebhookRefused`."""
        try:
            parts = urlsplit(url)
            host, port = (parts.hostname or "").lower(), parts.port
        except ValueError:
            raise WebhookRefused("must be a URL") from None
        if len(url) > MAX_URL or not url.isascii() or not url.isprintable() or " " in url:
            raise WebhookRefused(f"must be a URL of at most {MAX_URL} ASCII characters")
        if parts.scheme not in PORTS or not host or parts.username or parts.fragment:
            raise WebhookRefused("must be an http or https URL without user and fragment")
        port = PORTS[parts.scheme] if port is None else port
        usual = port == PORTS[parts.scheme] and host in self.hosts
        if not (usual or f"{host}:{port}" in self.hosts):
            named = "must go to a host that TOPOLOOM_WEBHOOK_HOSTS names"
            raise WebhookRefused(f"{named}; {host}:{port} is none")
        path = parts.path or "/"
        return Target(parts.scheme, host, port, f"{path}?{parts.query}" if parts.query else path)

    def addresses(self, target: Target) -> list[str]:
        """Return the addresses of a target; raise `WebhookRefused` if one is not public."""
        found = socket.getaddrinfo(target.host, target.port, type=socket.SOCK_STREAM)
        addresses = list(dict.fromkeys(str(entry[4][0]) for entry in found))
        for address in addresses:
            if not (self.private or ipaddress.ip_address(address.split("%")[0]).is_global):
                raise WebhookRefused(f"must not lead to {address}, which is not public")
        return addresses


def signature(secret: str, body: bytes) -> str:
    """Return what stands in the header `SIGNATURE`.

    >>> signature("secret", b"{}")[:20]
    'sha256=77325902caca8'
    """
    return "sha256=" + hmac.new(secret.encode(), body, hashlib.sha256).hexdigest()


class _Pinned(http.client.HTTPConnection):
    """A connection to a checked address, under the host name of the URL."""

    def __init__(self, target: Target, address: str) -> None:
        super().__init__(target.host, target.port, timeout=TIMEOUT_SECONDS)
        self._target, self._address = target, address

    def connect(self) -> None:
        self.sock = socket.create_connection((self._address, self.port), self.timeout)
        if self._target.scheme == "https":
            context = ssl.create_default_context()
            self.sock = context.wrap_socket(self.sock, server_hostname=self._target.host)


def send(rules: WebhookRules, url: str, body: bytes, job: JobId) -> int:
    """Send one message; return the status of the answer.

    Raises
    ------
    WebhookRefused
        The rules forbid it, or what the name means.
    OSError, http.client.HTTPException
        Nobody answers, or not as HTTP does.
    """
    target = rules.target(url)
    connection = _Pinned(target, rules.addresses(target)[0])
    headers = {
        "Content-Type": "application/json",
        "User-Agent": f"topoloom/{version('topoloom')}",
        "Topoloom-Job": job,
        SIGNATURE: signature(rules.secret, body),
    }
    try:
        connection.request("POST", target.path, body, headers)
        return connection.getresponse().status
    finally:
        connection.close()


class Messenger:
    """Sends what is due, one message at a time, in a thread of its own.

    ``write`` gives the body of a message.
    """

    def __init__(self, rules: WebhookRules, write: Callable[[Job], bytes]) -> None:
        self._rules, self._write = rules, write
        self._woken, self._stopping = Event(), Event()

    def start(self, engine: Engine) -> None:
        """Start to send messages that are due."""
        thread = Thread(target=self._run, args=(engine,), name="jobs-webhooks", daemon=True)
        thread.start()

    def wake(self) -> None:
        """Check for due messages now."""
        self._woken.set()

    def stop(self) -> None:
        """Stop sending; unsent messages stay due."""
        self._stopping.set()
        self._woken.set()

    def _run(self, engine: Engine) -> None:
        while not self._stopping.is_set():
            self._woken.wait(LOOK_SECONDS)
            self._woken.clear()
            try:
                while not self._stopping.is_set() and self.deliver(engine):
                    pass
            except SQLAlchemyError as error:
                log.warning("webhooks: the database cannot be used: %s", str(error).splitlines()[0])

    def deliver(self, engine: Engine) -> bool:
        """Try the message that is most overdue; False if none is due."""
        claimed = self._claim(engine)
        if claimed is None:
            return False
        job, url, attempt = claimed
        state = "sent" if self._told(engine, job, url) else "waiting"
        if state == "waiting" and attempt >= ATTEMPTS:
            state = "given up"
            log.error("webhook %s: given up on job %s after %d attempts", url, job, attempt)
        pause = FIRST_PAUSE_SECONDS * 2 ** (attempt - 1)
        with engine.begin() as connection:
            connection.execute(
                update(WebhookRow)
                .where(WebhookRow.job_id == job, WebhookRow.url == url)
                .values(state=state, due=time.time() + pause)
            )
        return True

    def _claim(self, engine: Engine) -> tuple[JobId, str, int] | None:
        """Claim a due message for a limited time; after a crash, another process sends it."""
        now = time.time()
        due = (WebhookRow.state == "waiting", WebhookRow.due <= now)
        query = select(WebhookRow.job_id, WebhookRow.url, WebhookRow.attempts).where(*due)
        with engine.begin() as connection:
            row = connection.execute(query.order_by(WebhookRow.due).limit(1)).one_or_none()
            if row is None:
                return None
            mine = (WebhookRow.job_id == row.job_id, WebhookRow.url == row.url)
            taken = connection.execute(
                update(WebhookRow)
                .where(*mine, *due, WebhookRow.attempts == row.attempts)
                .values(attempts=row.attempts + 1, due=now + LEASE_SECONDS)
            )
        return (row.job_id, row.url, row.attempts + 1) if taken.rowcount else None

    def _told(self, engine: Engine, job: JobId, url: str) -> bool:
        """Send a message; return True if the host accepted it or the job is deleted."""
        try:
            status = send(self._rules, url, self._write(queries.read(engine, job)), job)
        except NotStored:
            return True
        except (OSError, http.client.HTTPException, WebhookRefused) as error:
            log.warning("webhook %s: job %s: %s", url, job, error)
            return False
        if status >= 300:
            log.warning("webhook %s: job %s: answered %d", url, job, status)
        return status < 300
