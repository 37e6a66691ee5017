"""An optical switch over NETCONF (RFC 6241): its pairs, and edits with automatic rollback.

The switch needs the capabilities *candidate*, *confirmed-commit* and *validate*.  A session locks
the candidate configuration, so that concurrent runs exclude each other.  The session does not lock
the running configuration, because a lock prevents the automatic rollback of servers.
"""

import tempfile
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

from topoloom.app.extras import require_extra
from topoloom.app.optical_switches.credentials import Address, Login
from topoloom.synth.errors import InvalidWiring
from topoloom.synth.wiring.devices.polatis import SWITCH, edit_config, read_pairs
from topoloom.synth.wiring.plans.panel_actions import Step
from topoloom.synth.wiring.plant import Pair, Plant

REPLY_SECONDS = 30
"""Time limit of one reply of a switch."""

NEEDED = (":candidate", ":confirmed-commit", ":validate")
_TABLE = f'<cross-connects xmlns="{SWITCH}"/>'


class PanelFailed(RuntimeError):
    """A switch is unreachable, refuses, or has an unexpected state; the message names its panel."""


class Switch:
    """An open session with the switch of a panel; see `opened`."""

    def __init__(self, plant: Plant, panel: int, session: Any) -> None:
        self.plant, self.panel = plant, panel
        self._session = session
        self._pending = False

    @property
    def id(self) -> str:
        """Name of the panel."""
        return self.plant.panels[self.panel].id

    def pairs(self) -> frozenset[Pair]:
        """Return the pairs of the running configuration."""
        with _naming(self.id):
            reply = self._session.get_config("running", filter=("subtree", _TABLE))
            return read_pairs(reply.data_xml, self.plant, self.panel)

    def check(self, steps: Iterable[Step]) -> None:
        """Validate edits on the switch, one after another, without a change.

        Raises:
            PanelFailed: The switch refuses an edit.
        """
        with _naming(self.id):
            try:
                for step in steps:
                    self._edit(step)
                    self._session.validate("candidate")
            finally:
                # Some servers treat a validated candidate as unchanged.
                self._session.discard_changes()

    def change(self, step: Step, seconds: int) -> None:
        """Make one edit, with rollback after ``seconds`` or at the end of the session."""
        with _naming(self.id):
            try:
                self._edit(step)
                self._session.commit(confirmed=True, timeout=str(seconds))
            except BaseException:
                with suppress(Exception):
                    self._session.discard_changes()
                raise
            self._pending = True

    def confirm(self) -> None:
        """Confirm the last edit."""
        with _naming(self.id):
            self._session.commit()
            self._pending = False

    def cancel(self) -> None:
        """Roll back the last edit, if not confirmed."""
        if self._pending:
            with _naming(self.id):
                self._pending = False
                self._session.cancel_commit()

    def _edit(self, step: Step) -> None:
        body = ElementTree.tostring(edit_config(self.plant, step), encoding="unicode")
        self._session.edit_config(body, target="candidate", error_option="stop-on-error")


@contextmanager
def opened(plant: Plant, panel: int, address: Address, login: Login) -> Iterator[Switch]:
    """Log in to the switch of a panel and lock its candidate; at the end, undo unconfirmed edits.

    Raises:
        MissingExtra: ncclient is not installed.
        PanelFailed: The switch is unreachable or unknown, lacks a capability, or is locked.
    """
    require_extra("ncclient", "netconf")
    name = plant.panels[panel].id
    with _naming(f"{name} at {address}"):
        session = _connected(address, login)
    try:
        with _naming(name):
            lacking = [name for name in NEEDED if name not in session.server_capabilities]
            if lacking:
                raise PanelFailed(f"{name}: the server lacks {', '.join(lacking)}")
            session.lock("candidate")
            session.discard_changes()
        switch = Switch(plant, panel, session)
        try:
            yield switch
        finally:
            with suppress(PanelFailed):
                switch.cancel()
            with suppress(Exception):
                session.unlock("candidate")
    finally:
        with suppress(Exception):
            session.close_session()


def _connected(address: Address, login: Login) -> Any:
    from ncclient import manager  # pyright: ignore[reportMissingImports]

    with tempfile.TemporaryDirectory() as folder:
        options: dict[str, Any] = {}
        if login.known_hosts is not None:
            # ncclient takes a known-hosts file only through an SSH configuration.
            config = Path(folder) / "config"
            config.write_text(f"Host *\n  UserKnownHostsFile {login.known_hosts.resolve()}\n")
            options["ssh_config"] = str(config)
        return manager.connect_ssh(
            address.host,
            port=address.port,
            username=login.username,
            password=login.password,
            key_filename=None if login.key_file is None else str(login.key_file),
            hostkey_verify=True,
            allow_agent=False,
            look_for_keys=False,
            timeout=REPLY_SECONDS,
            **options,
        )


@contextmanager
def _naming(name: str) -> Iterator[None]:
    """Convert all errors to `PanelFailed` with the name of the panel."""
    from ncclient.operations import RPCError  # pyright: ignore[reportMissingImports]
    from ncclient.transport import SSHUnknownHostError  # pyright: ignore[reportMissingImports]

    try:
        yield
    except PanelFailed:
        raise
    except SSHUnknownHostError:
        raise PanelFailed(f"{name}: unknown host key") from None
    except InvalidWiring as error:
        raise PanelFailed(f"{name}: invalid reply: {error.rule}") from None
    except RPCError as error:
        raise PanelFailed(f"{name}: refuses: {error.message or error.tag}") from None
    except Exception as error:
        raise PanelFailed(f"{name}: {str(error) or type(error).__name__}") from None
