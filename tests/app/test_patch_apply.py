"""`topoloom patch apply` against real NETCONF servers."""

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

from tests.app import netconf_server
from tests.app.jobs.work import until
from topoloom.app.optical_switches.apply_plan import carry_out
from topoloom.app.optical_switches.credentials import Address, Login, NoLogin
from topoloom.app.optical_switches.netconf import PanelFailed, Switch, opened
from topoloom.synth.topology.topology import Topology
from topoloom.synth.wiring import plan_moves, to_document
from topoloom.synth.wiring.devices.wiring_reader import read_wiring_text
from topoloom.synth.wiring.operations.plan_progress import states
from topoloom.synth.wiring.plans.panel_actions import Step, read_script
from topoloom.synth.wiring.plans.stages import Limits
from topoloom.synth.wiring.plant import Pair, plant_document, read_plant

pytest.importorskip("ncclient", reason="ncclient is not installed: pip install 'topoloom[netconf]'")
missing = netconf_server.why_missing()
real = pytest.mark.skipif(missing is not None, reason=missing or "")

HOSTS, PANELS = 4, 2
ROOT = Path(__file__).parent.parent.parent


def plant():
    """Return two optical switches, with one port of every host each way."""
    return read_plant(
        {
            "schema": "plant/1",
            "name": "lab",
            "panels": [
                {"id": f"ocs-{n}", "kind": "switch", "a": HOSTS, "b": HOSTS} for n in range(PANELS)
            ],
            "hosts": [
                {
                    "id": f"h{host}",
                    "ports": [
                        {"id": f"p{n}", "tx": f"ocs-{n}/{host}A", "rx": f"ocs-{n}/{host}B"}
                        for n in range(PANELS)
                    ],
                }
                for host in range(HOSTS)
            ],
        }
    )


def circulant(*jumps):
    """Return the graph in which host i sends to i + j for every jump j."""
    return Topology(
        [f"h{i}" for i in range(HOSTS)],
        [(f"h{i}", f"h{(i + j) % HOSTS}") for i in range(HOSTS) for j in jumps],
    )


@pytest.fixture(scope="module")
def servers(tmp_path_factory: pytest.TempPathFactory) -> Iterator[list[netconf_server.Server]]:
    with netconf_server.running(tmp_path_factory.mktemp("netconf"), PANELS) as started:
        yield started


class Lab:
    """The two switches, and what people do with them."""

    def __init__(self, servers, sessions, folder, topoloom, monkeypatch):
        self.servers, self.folder, self.topoloom = servers, folder, topoloom
        self.sessions = sessions
        self.watching = [Switch(plant(), n, session) for n, session in enumerate(sessions)]
        self.login = Login.of(servers[0].environment)
        for name, value in servers[0].environment.items():
            monkeypatch.setenv(name, value)
        (folder / "plant.json").write_text(json.dumps(plant_document(plant())))

    def opened(self, panel):
        address = Address("127.0.0.1", self.servers[panel].port)
        return opened(plant(), panel, address, self.login)

    def reply(self, panel):
        """Return the XML of the answer to get-config."""
        table = '<cross-connects xmlns="http://www.polatis.com/yang/optical-switch"/>'
        return self.sessions[panel].get_config("running", filter=("subtree", table)).data_xml

    def seen(self, panel):
        return self.watching[panel].pairs()

    def pairs(self):
        return set().union(*map(self.seen, range(PANELS)))

    def plug(self, pairs):
        """Bring both switches to these pairs, by hand."""
        for panel, switch in enumerate(self.watching):
            wanted = {pair for pair in pairs if pair.panel == panel}
            there = switch.pairs()
            if wanted != there:
                with self.sessions[panel].locked("candidate"):
                    switch.change(Step(tuple(there - wanted), tuple(wanted - there)), 60)
                    switch.confirm()

    def plan(self, topology, present=(), **limits):
        """Write the plan of a topology from these pairs; return it as a script."""
        from topoloom.synth.wiring import Present

        made = plan_moves(topology, plant().with_present(Present.of(present)))
        document = to_document(made, Limits(**limits))
        (self.folder / "plan.json").write_text(json.dumps(document))
        return read_script(document, plant())

    def arguments(self, *more):
        at = [f"--at=ocs-{n}=127.0.0.1:{server.port}" for n, server in enumerate(self.servers)]
        files = [str(self.folder / "plan.json"), "--plant", str(self.folder / "plant.json")]
        return ["patch", "apply", *files, *at, *more]

    def apply(self, *more):
        return self.topoloom(*self.arguments(*more))


@pytest.fixture(scope="module")
def sessions(servers):
    with ExitStack() as stack:
        yield [stack.enter_context(server.session()) for server in servers]


@pytest.fixture
def lab(servers, sessions, tmp_path, topoloom, monkeypatch) -> Lab:
    found = Lab(servers, sessions, tmp_path, topoloom, monkeypatch)
    found.plug(())
    return found


@pytest.mark.slow
@real
def test_without_commit_the_switches_check_every_stage_and_nothing_changes(lab):
    lab.plan(circulant(1, 2), max_links_down=1)
    answer = lab.apply()
    assert answer.code == 0, answer.err
    assert (
        "ocs-0: stage 0 of 1 is done; accepts the remaining moves: 0 removed, 4 added" in answer.out
    )
    assert "8 moves to make; nothing was changed" in answer.out
    assert lab.pairs() == set()


@pytest.mark.slow
@real
def test_the_reply_of_a_server_is_read_as_the_wiring_of_its_panel(lab):
    lab.plug({Pair(0, 0, 2), Pair(0, 3, 1), Pair(1, 1, 1)})
    text = "".join(f"# panel ocs-{n}\n{lab.reply(n)}\n" for n in range(PANELS))
    found = read_wiring_text(text, plant())
    assert set(found.present.pairs) == lab.pairs() and found.panels == {0, 1}
    lab.plug(())
    assert not read_wiring_text(f"# panel ocs-1\n{lab.reply(1)}", plant()).present.pairs


@pytest.mark.slow
@real
def test_a_plan_is_carried_out_in_its_stages_and_then_nothing_is_left(lab):
    first = lab.plan(circulant(1, 2))
    assert lab.apply("--commit").code == 0
    assert lab.pairs() == set(first.final.pairs)
    second = lab.plan(circulant(1, 3), first.final.pairs, max_links_down=2)
    assert len(second.steps) > 1
    answer = lab.apply("--commit")
    assert answer.code == 0, answer.err
    assert answer.out.count("is confirmed") == sum(len(second.of_panel(p)) for p in second.panels)
    assert lab.pairs() == set(second.final.pairs)
    again = lab.apply("--commit")
    assert again.code == 0 and "0 moves made" in again.out
    back = lab.apply("--undo", "--commit")
    assert back.code == 0, back.err
    assert lab.pairs() == set(first.final.pairs)


@pytest.mark.slow
@real
def test_two_ports_exchange_their_partners_in_one_edit(lab):
    lab.plug([Pair(0, 0, 1), Pair(0, 1, 2)])
    with lab.opened(0) as switch:
        swap = Step((Pair(0, 0, 1), Pair(0, 1, 2)), (Pair(0, 0, 2), Pair(0, 1, 1)))
        switch.check([swap])
        switch.change(swap, 60)
        switch.confirm()
        assert switch.pairs() == {Pair(0, 0, 2), Pair(0, 1, 1)}


@pytest.mark.slow
@real
def test_a_changed_base_is_refused_before_anything_moves(lab):
    lab.plan(circulant(1, 2))
    lab.plug([Pair(1, 3, 3)])
    answer = lab.apply("--commit")
    assert answer.code == 1
    assert "ocs-1: the base of the plan has changed, make a new plan: 3A-3B is new" in answer.err
    assert lab.pairs() == {Pair(1, 3, 3)}


@pytest.mark.slow
@real
def test_an_edit_that_is_not_confirmed_goes_back(lab):
    step = Step((), (Pair(0, 0, 1),))
    with lab.opened(0) as switch:
        switch.change(step, 60)
        assert lab.pairs() == {Pair(0, 0, 1)}
        switch.cancel()
        assert switch.pairs() == set()
        switch.change(step, 1)
        # Requests in quick succession would keep the server from its timers.
        until(lambda: time.sleep(1.5) or switch.pairs() == set())
        switch.change(step, 60)
    assert lab.pairs() == set()


@pytest.mark.slow
@real
def test_what_one_switch_refuses_is_done_on_none(lab):
    script = lab.plan(circulant(1, 2))
    said = []
    with ExitStack() as sessions:
        switches = {panel: sessions.enter_context(lab.opened(panel)) for panel in range(PANELS)}
        change = switches[1].change

        def late(step, seconds):
            # Somebody takes the egress after the check: the switch itself refuses the commit.
            change(Step((), (Pair(1, 0, 0),)), 60)
            switches[1].confirm()
            change(step, seconds)

        switches[1].change = late
        with pytest.raises(PanelFailed, match="ocs-1: refuses"):
            carry_out(script, switches, commit=True, seconds=60, say=said.append)
    assert any("ocs-0: stage 1 is made" in line for line in said)
    assert lab.pairs() == {Pair(1, 0, 0)}


KILLED = """
import os, signal, sys
import typer
from topoloom.app import cli

echo = typer.echo
def told(text, **options):
    echo(text, **options)
    sys.stdout.flush()
    if {at!r} in str(text):
        os.kill(os.getpid(), signal.SIGKILL)
typer.echo = told
sys.exit(cli.run(sys.argv[1:]))
"""


@real
@pytest.mark.parametrize(
    ("at", "left"),
    [
        ("ocs-0: stage 2 is made", {0: 1, 1: 1}),
        pytest.param("ocs-0: stage 2 is confirmed", {0: 2, 1: 1}, marks=pytest.mark.slow),
    ],
)
@pytest.mark.slow
def test_cut_in_the_middle_every_panel_is_after_a_whole_stage_and_the_plan_goes_on(lab, at, left):
    first = lab.plan(circulant(1, 2))
    lab.plug(first.final.pairs)
    script = lab.plan(circulant(3, 3), first.final.pairs, max_links_down=3)
    assert all(2 in dict(script.of_panel(panel)) for panel in (0, 1))
    killed = subprocess.run(
        [sys.executable, "-c", KILLED.format(at=at), *lab.arguments("--commit")],
        cwd=ROOT, env=dict(os.environ), capture_output=True, text=True, timeout=60,
    )  # fmt: skip
    assert killed.returncode == -signal.SIGKILL, killed.stderr
    for panel, stage in left.items():
        # The server notices that the session is lost, and goes back.
        end = time.monotonic() + 100
        while lab.seen(panel) != states(script, panel)[stage]:
            assert time.monotonic() < end, f"panel {panel}: {lab.seen(panel)}"
            time.sleep(0.1)
    answer = lab.apply("--commit")
    assert answer.code == 0, answer.err
    assert lab.pairs() == set(script.final.pairs)


@pytest.mark.slow
@real
def test_two_who_carry_out_plans_exclude_each_other(lab):
    lab.plan(circulant(1, 2))
    with lab.opened(1):
        answer = lab.apply("--commit")
    assert answer.code == 1 and "ocs-1: refuses: lock denied" in answer.err
    assert lab.pairs() == set()


@real
def test_a_switch_whose_host_key_is_not_known_is_not_talked_to(lab, monkeypatch):
    lab.plan(circulant(1, 2))
    (lab.folder / "nobody").write_text("")
    monkeypatch.setenv("NETCONF_KNOWN_HOSTS", str(lab.folder / "nobody"))
    answer = lab.apply()
    assert answer.code == 1 and "unknown host key" in answer.err


@real
def test_a_wrong_login_and_a_place_where_nobody_listens_are_one_line_each(lab, monkeypatch):
    lab.plan(circulant(1, 2))
    monkeypatch.setenv("NETCONF_USERNAME", "nobody-here")
    wrong = lab.apply()
    assert wrong.code == 1 and wrong.err.count("\n") == 1 and "ocs-0 at 127.0.0.1" in wrong.err
    nobody = lab.topoloom(*lab.arguments()[:-2], "--at=ocs-0=127.0.0.1:1", "--at=ocs-1=127.0.0.1:1")
    assert nobody.code == 1 and nobody.err.count("\n") == 1


@pytest.mark.parametrize(
    ("environment", "said"),
    [
        ({}, "NETCONF_USERNAME"),
        ({"NETCONF_USERNAME": "me"}, "NETCONF_PASSWORD or NETCONF_KEY_FILE"),
        ({"NETCONF_USERNAME": "me", "NETCONF_KEY_FILE": "/no/such"}, "NETCONF_KEY_FILE names no"),
    ],
)
def test_a_login_that_is_not_whole_names_what_is_missing(environment, said):
    with pytest.raises(NoLogin, match=said):
        Login.of(environment)


def test_a_path_that_would_be_two_lines_of_a_configuration_is_refused(tmp_path):
    path = tmp_path / "hosts\n  ProxyCommand reboot"
    path.write_text("")
    login = {"NETCONF_USERNAME": "me", "NETCONF_PASSWORD": "x", "NETCONF_KNOWN_HOSTS": str(path)}
    with pytest.raises(NoLogin, match="NETCONF_KNOWN_HOSTS must be printable"):
        Login.of(login)


def test_a_password_is_never_shown():
    login = Login.of({"NETCONF_USERNAME": "me", "NETCONF_PASSWORD": "hunter2"})
    assert "hunter2" not in repr(login) and "hunter2" not in str(login)


@pytest.mark.parametrize(
    "text",
    [
        *("", "a:b", "a:0", "a:65536", "::1", "[::1", "a b", "a:1:2"),
        *("-oProxyCommand=reboot", "me@ocs", "a\0b", "a\x1b[2J", "a;reboot", "$(reboot)", "a\n"),
    ],
)
def test_an_address_that_is_none_is_refused(text):
    with pytest.raises(ValueError, match=r"must be HOST|must have a port"):
        Address.of(text)


@pytest.mark.parametrize(
    ("more", "said"),
    [
        (["--at=ocs-0=h"], "panel 'ocs-1' is missing"),
        (["--at=ocs-0=h", "--at=ocs-0=g"], "named twice"),
        (["--at=ocs-9=h"], "there is no panel 'ocs-9'"),
        (["--at=nonsense"], "there is no panel 'nonsense'"),
        (["--at=ocs-0=h:x", "--at=ocs-1=h"], "must be HOST"),
        (["--at=ocs-0=h", "--at=ocs-1=h"], "NETCONF_USERNAME"),
    ],
)
def test_apply_says_what_it_needs(topoloom, tmp_path, monkeypatch, more, said):
    monkeypatch.delenv("NETCONF_USERNAME", raising=False)
    (tmp_path / "plant.json").write_text(json.dumps(plant_document(plant())))
    document = to_document(plan_moves(circulant(1, 2), plant()))
    (tmp_path / "plan.json").write_text(json.dumps(document))
    files = [str(tmp_path / "plan.json"), "--plant", str(tmp_path / "plant.json")]
    answer = topoloom("patch", "apply", *files, *more)
    assert answer.code == 2 and said in answer.err
