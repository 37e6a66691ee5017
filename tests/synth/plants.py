"""Random plants of every kind that the documentation allows, and topologies to wire on them."""

from dataclasses import replace
from fractions import Fraction

from hypothesis import strategies as st

from topoloom.synth.topology.topology import Topology
from topoloom.synth.wiring.plant import (
    Host,
    HostPort,
    Kind,
    Mode,
    Pair,
    Panel,
    Plant,
    Port,
    Present,
    Side,
    State,
)
from topoloom.synth.wiring.plant.parts import Trunk
from topoloom.synth.wiring.plant.passive_panels import through

FLAVOURS = ("one-way", "duplex on directed", "one-sided", "two-sided")
MOVED = [kind for kind in Kind if kind is not Kind.SHUFFLE]
STATES = st.sampled_from([*[State.FREE] * 12, *State])


@st.composite
def plants(draw, most_hosts=5, most_panels=3, flavours=FLAVOURS, states=True, lanes=None):
    """A plant whose hosts have one to three ports of one or two lanes, cabled anywhere."""
    flavour = draw(st.sampled_from(flavours))
    lanes = lanes or draw(st.sampled_from([1, 1, 1, 2]))
    hosts = draw(st.integers(2, most_hosts))
    count = draw(st.integers(1, most_panels))
    spare = draw(st.integers(0, 2))
    used = {(panel, side): 0 for panel in range(count) for side in Side}

    def fibres(panel_numbers, side):
        ends = []
        for panel in panel_numbers:
            ends.append(Port(panel, side, used[panel, side]))
            used[panel, side] += 1
        return tuple(ends)

    panel = st.integers(0, count - 1)
    somewhere = st.tuples(*[panel] * lanes)
    rows = []
    for h in range(hosts):
        ports = []
        for p in range(draw(st.integers(1, 3))):
            state = draw(STATES) if states else State.FREE
            there = draw(somewhere)
            if flavour in ("one-way", "duplex on directed"):
                back = draw(somewhere) if flavour == "one-way" or draw(st.booleans()) else there
                tx, rx = fibres(there, Side.A), fibres(back, Side.B)
                ports.append(HostPort(f"p{p}", tx, rx, flavour != "one-way", state))
            else:
                side = draw(st.sampled_from(Side)) if flavour == "two-sided" else Side.A
                at = fibres(there, side)
                ports.append(HostPort(f"p{p}", at, at, True, state))
        rows.append(Host(f"h{h}", tuple(ports)))
    panels = []
    for number in range(count):
        a, b = (used[number, side] + spare + 1 for side in Side)
        panels.append(
            Panel(
                f"panel/{number}",
                tuple(f"{i}A" for i in range(a)),
                () if flavour == "one-sided" else tuple(f"{i}B" for i in range(b)),
                draw(st.sampled_from(MOVED)),
                Mode.DIRECTED if "directed" in flavour or flavour == "one-way" else
                Mode.BIDIRECTIONAL,
                Fraction(draw(st.integers(0, 100)), 10),
                draw(st.integers(1, 4)),
                Fraction(draw(st.integers(0, 3))),
                draw(st.sampled_from(["", "polatis"])),
                draw(st.sampled_from(["", "row 3"])),
            )
        )  # fmt: skip
    plant = Plant(tuple(panels), tuple(rows), states=draw(_states(panels)) if states else {})
    return plant.with_present(draw(presents(plant)))


@st.composite
def _states(draw, panels):
    found = {}
    for number, panel in enumerate(panels):
        index = draw(st.integers(0, len(panel.a) - 1))
        state = draw(STATES)
        if state is not State.FREE:
            found[Port(number, Side.A, index)] = state
    return found


@st.composite
def presents(draw, plant):
    """Any matching on every panel, some of its pairs of others."""
    pairs = []
    for number, panel in enumerate(plant.panels):
        if panel.one_sided:
            order = draw(st.permutations(range(len(panel.a))))
            joined = list(zip(order[::2], order[1::2], strict=False))
            joined = [(min(ends), max(ends)) for ends in joined]
        else:
            a = draw(st.permutations(range(len(panel.a))))
            b = draw(st.permutations(range(len(panel.b))))
            joined = list(zip(a, b, strict=False))
        keep = draw(st.integers(0, len(joined)))
        pairs += [Pair(number, *ends) for ends in joined[:keep]]
    foreign = [pair for pair in pairs if draw(st.integers(0, 7)) == 0]
    return Present.of(pairs, foreign)


@st.composite
def trunked(draw):
    """A plant with a trunk between two panels, and a name and a budget."""
    plant = draw(plants(flavours=("one-way", "one-sided")))
    panels = plant.panels
    if len(panels) > 1:
        side = Side.A if panels[0].one_sided else Side.B
        ends = (
            Port(0, side, len(panels[0].names(side)) - 1),
            Port(1, Side.A, len(panels[1].a) - 1),
        )
        trunks = (Trunk(*ends, Fraction(1, 4)),)
    else:
        trunks = ()
    return Plant(panels, plant.hosts, trunks, plant.states, plant.present, Fraction(5, 2), "hall 1")


@st.composite
def topologies(draw, plant, most_links=5):
    """A topology whose nodes are some of the plant's hosts; bidirectional on duplex ports."""
    names = [host.id for host in plant.hosts]
    nodes = draw(st.lists(st.sampled_from(names), min_size=2, unique=True))
    pairs = [(u, v) for u in nodes for v in nodes if u != v]
    links = draw(st.lists(st.sampled_from(pairs), max_size=most_links))
    if any(port.duplex for host in plant.hosts for port in host.ports):
        links = [link for u, v in links for link in ((u, v), (v, u))]
    return Topology(nodes, links)


def straight(hosts, lanes):
    """Hosts whose duplex port p has both fibres on panel p, which joins A to B one way."""
    names = tuple(f"{h}A" for h in range(hosts)), tuple(f"{h}B" for h in range(hosts))
    panels = tuple(Panel(f"panel-{lane}", *names, Kind.SWITCH) for lane in range(lanes))
    return Plant(
        panels,
        tuple(
            Host(
                str(h),
                tuple(
                    HostPort(str(p), (Port(p, Side.A, h),), (Port(p, Side.B, h),), True)
                    for p in range(lanes)
                ),
            )
            for h in range(hosts)
        ),
    )


@st.composite
def two_way(draw, hosts, degree):
    """Any two-way topology of so many hosts in which none has more links than ``degree``."""
    room = [degree] * hosts
    links = []
    pairs = [(u, v) for u in range(hosts) for v in range(u)]
    for u, v in draw(st.lists(st.sampled_from(pairs), max_size=hosts * degree)):
        if room[u] and room[v]:
            room[u], room[v] = room[u] - 1, room[v] - 1
            links += [(u, v), (v, u)]
    return Topology(range(hosts), links)


@st.composite
def meshes(draw, most_hosts=4, most_trunks=6, flavours=FLAVOURS):
    """A plant whose panels are joined by trunks, some pairs plugged."""
    plant = draw(plants(most_hosts, 4, flavours, states=False))
    free = [
        Port(number, side, index)
        for number, panel in enumerate(plant.panels)
        for side in ((Side.A,) if panel.one_sided else Side)
        for index in range(len(panel.names(side)))
        if Port(number, side, index) not in plant.at
    ]
    trunks = []
    for _ in range(draw(st.integers(0, most_trunks))):
        starts = [p for p in free if plant.panels[p.panel].mode is Mode.BIDIRECTIONAL
                  or p.side is Side.B]  # fmt: skip
        if not starts:
            break
        start = draw(st.sampled_from(starts))
        directed = plant.panels[start.panel].mode is Mode.DIRECTED
        ends = [p for p in free if p.panel != start.panel and (not directed or p.side is Side.A)]
        if not ends:
            break
        end = draw(st.sampled_from(ends))
        trunks.append(Trunk(start, end))
        free = [p for p in free if p not in (start, end)]
    return Plant(plant.panels, plant.hosts, tuple(trunks)).with_present(draw(presents(plant)))


@st.composite
def shuffled(draw, plant):
    """The same plant with some of its fixed cables led through a shuffle panel."""
    bundles, fibres = draw(st.integers(1, 4)), draw(st.integers(1, 4))
    number = len(plant.panels)
    count = bundles * fibres
    names = tuple(f"{i}A" for i in range(count)), tuple(f"{i}B" for i in range(count))
    panel = Panel("glass", *names, Kind.SHUFFLE, Mode.BIDIRECTIONAL, bundles=bundles)
    ways_in = draw(st.permutations([Port(number, side, i) for side in Side for i in range(count)]))
    taken, trunks = set(), []

    def led(to, into):
        """Return where a cable to a port goes instead, the rest of the way being a trunk."""
        start = next((p for p in ways_in if p not in taken), None)
        if start is None or draw(st.booleans()):
            return to
        out = through(panel, start)
        taken.update((start, out))
        trunks.append(Trunk(out, to) if into else Trunk(to, out))
        return start

    hosts = []
    for host in plant.hosts:
        ports = []
        for port in host.ports:
            tx = tuple(led(end, True) for end in port.tx)
            rx = tx if port.tx == port.rx else tuple(led(end, False) for end in port.rx)
            ports.append(replace(port, tx=tx, rx=rx))
        hosts.append(replace(host, ports=tuple(ports)))
    for trunk in plant.trunks:
        start = led(trunk.target, True)
        trunks.append(Trunk(trunk.source, start, trunk.loss_db))
    return replace(
        plant, panels=(*plant.panels, panel), hosts=tuple(hosts), trunks=tuple(trunks), uniform=None
    )
