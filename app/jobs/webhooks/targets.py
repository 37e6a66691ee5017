"""Targets of webhooks: the hosts that the configuration allows, and their checked addresses."""

import ipaddress
import socket
from dataclasses import dataclass
from typing import NamedTuple
from urllib.parse import urlsplit

from topoloom.app.jobs.errors import WebhookRefused
from topoloom.app.store.tables import MAX_URL

PORTS = {"http": 80, "https": 443}


class Target(NamedTuple):
    """Where a message goes."""

    scheme: str
    host: str
    port: int
    path: str

    @property
    def authority(self) -> str:
        """Return the value of the Host header.

        >>> Target("https", "hooks.example", 443, "/").authority
        'hooks.example'
        >>> Target("http", "::1", 8080, "/").authority
        '[::1]:8080'
        """
        host = f"[{self.host}]" if ":" in self.host else self.host
        return host if self.port == PORTS[self.scheme] else f"{host}:{self.port}"


def without_credentials(url: str) -> str:
    """Return a URL without user, password and query, which may hold secrets.

    >>> without_credentials("https://me:word@ci.example:8443/done?token=1")
    'https://ci.example:8443/done'
    """
    parts = urlsplit(url)
    return f"{parts.scheme}://{parts.netloc.rpartition('@')[2]}{parts.path}"


def host_and_port(url: str) -> str:
    """Return the host of a URL with its port.

    >>> host_and_port("https://Hooks.example/done?token=1")
    'hooks.example:443'
    """
    parts = urlsplit(url)
    return f"{parts.hostname}:{parts.port or PORTS[parts.scheme]}"


@dataclass(frozen=True, slots=True)
class WebhookRules:
    """Allowed hosts, each ``NAME`` or ``NAME:PORT``, and the secrets that sign messages.

    ``secret`` holds one secret, or two during a rotation.  ``private`` allows addresses that are
    not of the public internet.

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
        if parts.scheme not in PORTS or not host or "@" in parts.netloc or parts.fragment:
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
