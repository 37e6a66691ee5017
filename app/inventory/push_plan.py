"""Push a patch plan to NetBox as a branch, which people review and merge.

The branch holds the cables as they are after the plan: it deletes the jumpers that the plan
removes, and creates those that the plan adds.  `topoloom.synth.wiring.devices.netbox_rest` computes
these changes from the cables of NetBox, so a repeated push sends only what is missing.
"""

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from topoloom.app.inventory.netbox_address import NetBoxFailed
from topoloom.app.inventory.netbox_rest import CABLES, NetBox
from topoloom.synth.errors import InvalidWiring
from topoloom.synth.wiring.devices import Script
from topoloom.synth.wiring.devices.netbox_rest import Changes, changes, read_inventory

BRANCHES = "plugins/branching/branches/"
READY, UNREADY = "ready", ("new", "provisioning")
POLL_SECONDS = 1.0
UNFINISHED = "INCOMPLETE, do not merge: "
"""Beginning of the description of a branch until the branch holds the whole plan."""


@dataclass(frozen=True, slots=True)
class Branch:
    """A branch of NetBox."""

    id: int
    name: str
    schema: str
    status: str

    @classmethod
    def of(cls, row: Any) -> "Branch":
        """Return the branch of a row; raise `NetBoxFailed` for any other answer."""
        match row:
            case {"id": int(number), "name": str(name), "schema_id": str(schema), "status": state}:
                status = state.get("value") if isinstance(state, dict) else state
                return cls(number, name, schema, str(status))
        raise NetBoxFailed(f"/api/{BRANCHES} returns no branch; is netbox-branching installed?")


@dataclass(frozen=True, slots=True)
class Pushed:
    """The result of a push: the branch, its page, and the numbers of changed cables."""

    branch: Branch
    page: str
    deleted: int
    changed: int
    created: int


def branch_name(script: Script) -> str:
    """Return the default name of the branch of a plan: the same for every push of this plan."""
    return f"topoloom {script.plan_id.removeprefix('sha256:')[:16]}"


def push_plan(
    script: Script,
    netbox: NetBox,
    name: str,
    wait_seconds: float,
    say: Callable[[str], None],
) -> Pushed | None:
    """Record a plan in a branch of NetBox; None if NetBox holds the end of the plan already.

    A new branch is deleted if it cannot be filled.  A branch of an earlier push is filled further;
    if this fails, the branch stays, and its description begins with `UNFINISHED`.

    Args:
        script: The moves of the plan.
        netbox: A connection outside any branch.
        name: Name of the branch.
        wait_seconds: Limit of the wait for the provisioning of a new branch, in seconds.
        say: Called with a sentence after each step.

    Raises:
        NetBoxFailed: NetBox is unreachable or refuses, lacks a port of the plan, or a port of an
            added jumper holds a cable that the plan does not remove.  The message says what becomes
            of the branch.
    """
    if not _count(_changes(script, netbox)):
        return None
    text = f"{UNFINISHED}plan {script.plan_id}"
    branch, is_new = _branch(netbox, name, text)
    say(f"branch {name!r} {'created' if is_new else 'found'}")
    branch = _provisioned(netbox, branch, wait_seconds)
    try:
        if not is_new:
            _describe(netbox, branch, text)
        sent = _fill(script, netbox.within(branch.schema))
        _describe(netbox, branch, f"Plan {script.plan_id}: merge when the moves are made.")
    except NetBoxFailed as error:
        raise NetBoxFailed(f"{error}; {_left(netbox, branch, is_new)}") from None
    page = f"{netbox.address.url}/plugins/branching/branches/{branch.id}/"
    return Pushed(branch, page, len(sent.delete), len(sent.patch), len(sent.post))


def _changes(script: Script, netbox: NetBox) -> Changes:
    """Return the changes from the cables of NetBox to the end of a plan."""
    known = netbox.cabling()
    try:
        return changes(script, read_inventory(known["front_ports"], known["cables"]), done=True)
    except InvalidWiring as error:
        raise NetBoxFailed(f"{netbox.address.url}: {error.rule}") from None


def _count(lists: Changes) -> int:
    return sum(map(len, lists.given().values()))


def _branch(netbox: NetBox, name: str, description: str) -> tuple[Branch, bool]:
    """Return the branch of a name, and whether it is new."""
    rows = netbox.rows(BRANCHES, [("name", name)])
    found = [branch for branch in map(Branch.of, rows) if branch.name == name]
    if found:
        return found[0], False
    row = {"name": name, "description": description}
    return Branch.of(netbox.ask("POST", BRANCHES, row)), True


def _provisioned(netbox: NetBox, branch: Branch, wait_seconds: float) -> Branch:
    """Return the branch when it is ready."""
    end = time.monotonic() + wait_seconds
    while branch.status in UNREADY:
        if time.monotonic() > end:
            raise NetBoxFailed(
                f"branch {branch.name!r} is still {branch.status} after {wait_seconds:g} seconds "
                "and stays empty: check NetBox's worker, then push again"
            )
        time.sleep(POLL_SECONDS)
        branch = Branch.of(netbox.ask("GET", f"{BRANCHES}{branch.id}/"))
    if branch.status != READY:
        raise NetBoxFailed(
            f"branch {branch.name!r} is {branch.status}, so it takes no changes: delete it, or "
            "name another with --branch"
        )
    return branch


def _describe(netbox: NetBox, branch: Branch, text: str) -> None:
    netbox.ask("PATCH", f"{BRANCHES}{branch.id}/", {"description": text})


def _fill(script: Script, inside: NetBox) -> Changes:
    """Send the changes that a branch lacks, read them back, and return them."""
    lists = _changes(script, inside)
    for method, rows in lists.given().items():
        if rows:
            inside.ask(method, CABLES, rows)
    if missing := _count(_changes(script, inside)):
        raise NetBoxFailed(f"{inside.address.url}: the branch lacks {missing} of the changes")
    return lists


def _left(netbox: NetBox, branch: Branch, is_new: bool) -> str:
    """Delete a new branch that cannot be filled; return the fate of the branch."""
    if is_new:
        try:
            netbox.ask("DELETE", f"{BRANCHES}{branch.id}/")
            return f"branch {branch.name!r} is deleted, NetBox is as before"
        except NetBoxFailed:
            pass
    return f"branch {branch.name!r} holds a part of the plan: push again, or delete the branch"
