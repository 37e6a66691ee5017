"""Addresses and logins of switches: addresses from options, secrets from the environment.

The variables have no prefix ``TOPOLOOM_``, since the service never logs in to a switch.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

PORT = 830
"""Default port of NETCONF over SSH."""

_ADDRESS = re.compile(
    r"(?:\[(?P<six>[0-9A-Fa-f:.]+)\]|(?P<name>\w[\w.-]*))(?::(?P<port>[0-9]{1,6}))?"
)


class NoLogin(ValueError):
    """A required variable is missing, or names no file."""


@dataclass(frozen=True, slots=True)
class Address:
    """A host and the port of its NETCONF server."""

    host: str
    port: int = PORT

    @classmethod
    def of(cls, text: str) -> "Address":
        """Return the address of ``HOST``, ``HOST:PORT`` or ``[IPV6]:PORT``.

        Raises:
            ValueError: The text has another form.

        >>> Address.of("ocs-1.lab"), Address.of("[::1]:8830").port
        (Address(host='ocs-1.lab', port=830), 8830)
        """
        match = _ADDRESS.fullmatch(text)
        if match is None:
            raise ValueError(f"must be HOST, HOST:PORT or [IPV6]:PORT; not {text[:80]!r}")
        port = PORT if match["port"] is None else int(match["port"])
        if not 1 <= port <= 65_535:
            raise ValueError(f"must have a port in 1 to 65535; not {match['port'][:20]}")
        return cls(match["six"] or match["name"], port)

    def __str__(self) -> str:
        return f"[{self.host}]:{self.port}" if ":" in self.host else f"{self.host}:{self.port}"


@dataclass(frozen=True, slots=True)
class Login:
    """User name, credentials and known hosts for the switches.

    ``password`` also decrypts ``key_file``.  Host keys must be in ``known_hosts`` (default: that
    of the current user).
    """

    username: str
    password: str | None = field(default=None, repr=False)
    key_file: Path | None = None
    known_hosts: Path | None = None

    @classmethod
    def of(cls, environment: Mapping[str, str]) -> "Login":
        """Return the login of the environment.

        Raises:
            NoLogin: ``NETCONF_USERNAME`` is missing, or both ``NETCONF_PASSWORD`` and
                ``NETCONF_KEY_FILE`` are missing, or a file does not exist.

        >>> Login.of({"NETCONF_USERNAME": "me", "NETCONF_PASSWORD": "secret"})
        Login(username='me', key_file=None, known_hosts=None)
        """
        username, password = (
            environment.get("NETCONF_USERNAME"),
            environment.get("NETCONF_PASSWORD"),
        )
        key_file, known_hosts = (
            _file(environment, name) for name in ("NETCONF_KEY_FILE", "NETCONF_KNOWN_HOSTS")
        )
        if not username:
            raise NoLogin("NETCONF_USERNAME must be set")
        if not password and key_file is None:
            raise NoLogin("NETCONF_PASSWORD or NETCONF_KEY_FILE must be set")
        return cls(username, password or None, key_file, known_hosts)


def _file(environment: Mapping[str, str], name: str) -> Path | None:
    if not environment.get(name):
        return None
    path = Path(environment[name]).expanduser()
    if "\0" in str(path) or not path.is_file():
        raise NoLogin(f"{name} names no file: {environment[name]!r}")
    if not str(path.resolve()).isprintable():
        # The path becomes a line of an SSH configuration.
        raise NoLogin(f"{name} must be printable text; not {environment[name]!r}")
    return path
