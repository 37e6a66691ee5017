"""The address of a NetBox from an option, and the token for this NetBox from the environment.

The variables have no prefix ``TOPOLOOM_``, since the service never logs in to a NetBox.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from urllib.parse import parse_qsl, urlsplit

PREFIX = "netbox:"
FORM = "netbox:https://HOST[:PORT][/PATH][?site=SLUG]"


class NetBoxFailed(RuntimeError):
    """The address of a NetBox is invalid, or the NetBox is unreachable, refuses or fails."""


def is_netbox(text: str) -> bool:
    """Return whether the value of an option is a NetBox, not a file.

    >>> is_netbox("netbox:https://netbox.example"), is_netbox("netbox.json")
    (True, False)
    """
    return text.startswith(PREFIX)


@dataclass(frozen=True, slots=True)
class Address:
    """The URL of a NetBox, the sites to read (all without one), and the token."""

    url: str
    sites: tuple[str, ...] = ()
    token: str = field(default="", repr=False)

    @classmethod
    def of(cls, text: str, environment: Mapping[str, str]) -> "Address":
        """Return the address of ``netbox:URL``, with the token in ``NETBOX_TOKEN``.

        ``netbox:`` and ``netbox:?site=SLUG`` stand for the URL in ``NETBOX_URL``.

        Raises:
            NetBoxFailed: The text has another form, holds a login, or a variable is missing.

        >>> Address.of("netbox:https://netbox.example?site=dc1", {"NETBOX_TOKEN": "secret"})
        Address(url='https://netbox.example', sites=('dc1',))
        """
        given = text.removeprefix(PREFIX)
        if not given or given.startswith("?"):
            if not environment.get("NETBOX_URL"):
                raise NetBoxFailed(f"NETBOX_URL must be set, or the option must be {FORM}")
            given = environment["NETBOX_URL"] + given
        token = environment.get("NETBOX_TOKEN", "")
        if not re.fullmatch(r"[!-~]+", token):
            raise NetBoxFailed("NETBOX_TOKEN must be set to a token of NetBox")
        url, sites = _parts(given)
        return cls(url, sites, token)

    @property
    def authorization(self) -> str:
        """The value of the header ``Authorization``: tokens of version 2 begin with ``nbt_``."""
        return f"{'Bearer' if self.token.startswith('nbt_') else 'Token'} {self.token}"


def _parts(text: str) -> tuple[str, tuple[str, ...]]:
    """Return the URL without its query, and the sites in the query."""
    try:
        parts = urlsplit(text)
        query = parse_qsl(parts.query, keep_blank_values=True, strict_parsing=bool(parts.query))
        known = parts.scheme in ("http", "https") and parts.hostname and parts.port != 0
    except ValueError:
        known, parts, query = False, urlsplit(""), []
    if "@" in parts.netloc:
        raise NetBoxFailed("the URL of NetBox must hold no login; NETBOX_TOKEN holds the token")
    if not known or parts.fragment or any(name != "site" or not slug for name, slug in query):
        raise NetBoxFailed(f"must be {FORM}; not {text[:200]!r}")
    return f"{parts.scheme}://{parts.netloc}{parts.path.rstrip('/')}", tuple(s for _, s in query)
