"""`--plant netbox:URL` and `topoloom patch push-netbox` against a NetBox by HTTP."""

import json

import pytest

from tests.app.netbox_server import BRANCHES, TOKEN, NetBox, serving
from topoloom.app.inventory import push_plan as pushing
from topoloom.app.inventory.netbox_address import Address, NetBoxFailed

CABLES = "dcim/cables/"
OLD = ((1, 3), (2, 5), (4, 7), (6, 8))
"""Front ports of the jumpers today: a ring over the hosts 0, 1, 3, 2."""
KEPT = {frozenset((1, 3)), frozenset((6, 8))}
HOST = {number: (number - 1) // 2 for number in range(1, 9)}
RING = {frozenset(pair) for pair in ((0, 1), (1, 2), (2, 3), (3, 0))}


@pytest.fixture
def netbox(monkeypatch):
    """A NetBox with four hosts of two ports, and the jumpers of a ring."""
    monkeypatch.setattr(pushing, "POLL_SECONDS", 0.01)
    found = NetBox(hosts=4, ports=2)
    for a, b in OLD:
        found.plug(("dcim.frontport", 200 + a), ("dcim.frontport", 200 + b), label="old")
    with serving(found) as url:
        monkeypatch.setenv("NETBOX_URL", url)
        monkeypatch.setenv("NETBOX_TOKEN", TOKEN)
        yield found


@pytest.fixture
def plan(netbox, topoloom, tmp_path):
    """The plan of a ring on the plant in NetBox."""
    path = str(tmp_path / "plan.json")
    answer = topoloom("patch", "BiRing(4)", "--plant", "netbox:", "--out", path)
    assert answer.code == 0, answer.err
    netbox.requests.clear()
    return path


def push(topoloom, plan, *more):
    return topoloom("patch", "push-netbox", plan, "--plant", "netbox:", *more)


def branch_state(netbox):
    [row] = netbox.branches.values()
    return netbox.jumpers(row["schema_id"])


def linked(jumpers):
    """Return the pairs of hosts that jumpers join."""
    return {frozenset(HOST[port] for port in pair) for pair in jumpers}


def test_the_plant_in_netbox_is_the_plant_of_its_saved_answers(netbox, topoloom, tmp_path):
    pages = {
        name: [
            netbox.page(f"dcim/{path}/", {"limit": "99", "offset": n}, None)
            for n in range(0, most, 3)
        ]
        for name, path, most in (("cables", "cables", 12), ("front_ports", "front-ports", 8))
    }
    (tmp_path / "saved.json").write_text(json.dumps(pages))
    by_rest = topoloom("patch", "BiRing(4)", "--plant", "netbox:", "--json")
    by_file = topoloom("patch", "BiRing(4)", "--plant", str(tmp_path / "saved.json"), "--json")
    assert by_rest.code == by_file.code == 0
    assert by_rest.out == by_file.out
    assert netbox.requests.count(("GET", CABLES, None)) == 4  # 12 cables, three on a page


def test_a_pushed_branch_holds_the_end_of_the_plan_and_main_is_untouched(netbox, topoloom, plan):
    before = netbox.jumpers()
    answer = push(topoloom, plan)
    assert answer.code == 0, answer.err
    assert "2 cables deleted, 0 changed, 2 created" in answer.out
    assert netbox.jumpers() == before
    labels = branch_state(netbox)
    assert linked(labels) == RING
    assert {labels.pop(pair) for pair in KEPT} == {"old"}
    assert all(label.count("--") == 1 for label in labels.values())
    [row] = netbox.branches.values()
    assert row["description"].startswith("Plan ")
    changing = [request for request in netbox.requests if request[0] != "GET"]
    schema = row["schema_id"]
    assert changing == [
        ("POST", BRANCHES, None),
        ("DELETE", CABLES, schema),
        ("POST", CABLES, schema),
        ("PATCH", f"{BRANCHES}{row['id']}/", None),
    ]


def test_a_second_push_changes_no_cable_and_makes_no_branch(netbox, topoloom, plan):
    push(topoloom, plan)
    before = branch_state(netbox)
    netbox.requests.clear()
    answer = push(topoloom, plan)
    assert answer.code == 0, answer.err
    assert "0 cables deleted, 0 changed, 0 created" in answer.out
    assert branch_state(netbox) == before
    assert CABLES not in {path for method, path, _ in netbox.requests if method != "GET"}


def test_after_the_merge_a_push_makes_no_branch(netbox, topoloom, plan):
    push(topoloom, plan)
    [row] = netbox.branches.values()
    netbox.states[None] = netbox.states[row["schema_id"]]
    netbox.branches.clear()
    answer = push(topoloom, plan)
    assert answer.code == 0
    assert "no branch is needed" in answer.out
    assert netbox.branches == {}


@pytest.mark.parametrize("request_", [("DELETE", CABLES), ("POST", CABLES)], ids=" ".join)
def test_a_new_branch_that_cannot_be_filled_is_deleted(netbox, topoloom, plan, request_):
    before = netbox.jumpers()
    netbox.refuse = request_
    answer = push(topoloom, plan)
    assert answer.code == 2
    assert "status 500" in answer.err and "is deleted, NetBox is as before" in answer.err
    assert netbox.branches == {}
    assert netbox.jumpers() == before


@pytest.mark.slow
def test_an_earlier_branch_that_cannot_be_filled_is_named_and_filled_by_the_next_push(
    netbox, topoloom, plan
):
    push(topoloom, plan, "--branch", "mine")
    row = netbox.branch("mine")
    netbox.states[row["schema_id"]] = dict(netbox.states[None])  # someone undid the changes
    netbox.refuse = ("POST", CABLES)
    answer = push(topoloom, plan, "--branch", "mine")
    assert answer.code == 2
    assert "branch 'mine' holds a part of the plan: push again" in answer.err
    assert netbox.branch("mine")["description"].startswith(pushing.UNFINISHED)
    assert push(topoloom, plan, "--branch", "mine").code == 0
    assert linked(branch_state(netbox)) == RING
    assert netbox.branch("mine")["description"].startswith("Plan ")


def test_a_branch_that_takes_no_changes_is_named_with_its_status(netbox, topoloom, plan):
    netbox.new_status = "failed"
    answer = push(topoloom, plan, "--branch", "mine")
    assert answer.code == 2
    assert "branch 'mine' is failed" in answer.err and "--branch" in answer.err


def test_a_cable_that_the_plan_does_not_know_stops_the_push_before_a_branch(netbox, topoloom, plan):
    netbox.states[None] = {
        n: row for n, row in netbox.states[None].items() if row["label"] != "old"
    }
    for a, b in ((1, 3), (2, 8), (4, 7), (5, 6)):
        netbox.plug(("dcim.frontport", 200 + a), ("dcim.frontport", 200 + b))
    answer = push(topoloom, plan)
    assert answer.code == 2
    assert "where the plan adds a cable and takes none away" in answer.err
    assert netbox.branches == {}


@pytest.mark.parametrize(
    ("value", "token", "rule"),
    [
        ("netbox:ftp://host", TOKEN, "must be netbox:https://HOST"),
        ("netbox:https://host:99999", TOKEN, "must be netbox:https://HOST"),
        ("netbox:https://host?region=x", TOKEN, "must be netbox:https://HOST"),
        ("netbox:https://host?site=", TOKEN, "must be netbox:https://HOST"),
        ("netbox:https://me:secret@host", TOKEN, "must hold no login"),
        ("netbox:https://host", "", "NETBOX_TOKEN must be set"),
        ("netbox:https://host", "two words", "NETBOX_TOKEN must be set"),
    ],
)
def test_an_invalid_address_or_token_is_one_line_without_secrets(value, token, rule):
    with pytest.raises(NetBoxFailed) as refused:
        Address.of(value, {"NETBOX_TOKEN": token})
    assert rule in str(refused.value)
    assert "secret" not in str(refused.value)


def test_the_token_is_in_no_message_and_no_repr(netbox, topoloom, monkeypatch):
    monkeypatch.setenv("NETBOX_TOKEN", "nbt_wrong.hidden")
    answer = topoloom("patch", "BiRing(4)", "--plant", "netbox:")
    assert answer.code == 2
    assert "status 403" in answer.err and "…" in answer.err
    assert "hidden" not in answer.err + answer.out
    assert answer.err.count("\n") == 1
    address = Address.of("netbox:https://host", {"NETBOX_TOKEN": TOKEN})
    assert TOKEN not in repr(address)


def test_a_server_that_is_no_netbox_is_one_line(netbox, topoloom, monkeypatch):
    monkeypatch.setenv("NETBOX_URL", "http://127.0.0.1:1")
    answer = topoloom("patch", "BiRing(4)", "--plant", "netbox:")
    assert answer.code == 2
    assert answer.err.count("\n") == 1
    assert answer.err.startswith("topoloom: http://127.0.0.1:1: GET /api/dcim/front-ports/: ")
