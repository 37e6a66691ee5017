"""Launch files: the order of ranks follows the cables, and every file says that order."""

import ipaddress
import itertools
import json
import random
import shutil
import subprocess
from fractions import Fraction

import networkx as nx
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.synth.launch_readers import BY_HOST, READERS, run_as
from topoloom.synth.errors import DoesNotFit, InvalidTopology
from topoloom.synth.fabrics import fabric
from topoloom.synth.formats import WRITERS
from topoloom.synth.launch import LAUNCH_FILES, launch_of
from topoloom.synth.launch.host_graph import host_graph
from topoloom.synth.launch.ring_load import ring_load
from topoloom.synth.launch.ring_search import ring_order
from topoloom.synth.recipes.build import build
from topoloom.synth.recipes.recipe import parse
from topoloom.synth.topology.topology import Topology
from topoloom.synth.wiring import plan_moves, to_document
from topoloom.synth.wiring.devices import RENDERERS, read_script
from topoloom.synth.wiring.plant import read_plant


def shuffled(topology, seed=1):
    """Return the topology with shuffled names: the order of nodes states nothing."""
    names = [f"n{index}" for index in range(topology.node_count)]
    random.Random(seed).shuffle(names)
    name = dict(zip(topology.nodes, names, strict=True))
    links = [(name[a], name[b], c) for a, b, c in topology.links]
    switches = [name[switch] for switch in topology.switches]
    nodes = sorted(names, key=lambda text: int(text[1:]))
    return Topology(nodes, links, switches=switches, bandwidth_unit=topology.bandwidth_unit)


def widest_path_rate(topology, order):
    """Return the rate of a ring when every message is followed link by link."""
    graph = nx.DiGraph()
    for source, target, capacity in topology.links:
        graph.add_edge(source, target)
        graph[source][target]["capacity"] = graph[source][target].get("capacity", 0) + Fraction(
            capacity
        )
    loads = dict.fromkeys(graph.edges, Fraction(0))
    for source, target in zip(order, [*order[1:], order[0]], strict=True):
        left = nx.single_target_shortest_path_length(graph, target)
        left = dict(left)
        share = dict.fromkeys(graph, Fraction(0)) | {source: Fraction(1)}
        for node in sorted(share, key=lambda node: -left[node]):
            ways = [other for other in graph[node] if left[other] == left[node] - 1]
            whole = sum(graph[node][other]["capacity"] for other in ways)
            for other in ways if share[node] else []:
                part = share[node] * graph[node][other]["capacity"] / whole
                loads[node, other] += part
                share[other] += part
    return min(graph.edges[arc]["capacity"] / load for arc, load in loads.items() if load)


RINGS = [
    "Torus(3, 5)", "Torus(4, 4)", "Hypercube(5)", "Kautz(2, 4)", "DeBruijn(2, 5)",
    "DirectedCirculant(19, 1, 2, 7)", "LineGraph(2, Circulant(8, 1, 3))", "Diamond()",
    "RandomRegular(19, 3, 2, 2, 10000)",
]  # fmt: skip


@pytest.mark.parametrize("recipe", RINGS)
def test_neighbors_have_a_cable_where_a_ring_over_cables_exists(recipe):
    topology = shuffled(build(parse(recipe)))
    graph = host_graph(topology)
    order = ring_order(graph)
    assert sorted(order) == list(range(topology.node_count))
    cabled = {(source, target) for source, target, _ in topology.links}
    names = [graph.labels[host] for host in order]
    assert set(zip(names, [*names[1:], names[0]], strict=True)) <= cabled


@pytest.mark.parametrize("name", ["fat-tree-4", "dragonfly-2-1-1-3", "Kautz(2, 3)", "Torus(3, 4)"])
@pytest.mark.parametrize("seed", [1, 2])
def test_the_bottleneck_is_that_of_every_message_followed_over_shortest_paths(name, seed):
    topology = shuffled(build(parse(name)) if "(" in name else fabric(name), seed)
    graph = host_graph(topology)
    order = random.Random(seed).sample(range(len(graph.hosts)), len(graph.hosts))
    hosts = [graph.hosts[host][0] for host in order]
    assert ring_load(graph, order).bottleneck == widest_path_rate(topology, hosts)


@pytest.mark.slow
@settings(deadline=None, max_examples=40)
@given(
    st.integers(3, 6).flatmap(
        lambda n: st.tuples(
            st.just(n), st.sets(st.tuples(st.integers(0, n - 1), st.integers(0, n - 1)), max_size=9)
        )
    )
)
def test_no_order_of_few_hosts_is_worse_than_that_of_the_topology(case):
    size, extra = case
    cables = {(index, index + 1) for index in range(size - 1)} | {e for e in extra if e[0] != e[1]}
    topology = Topology(range(size), {*cables, *((b, a) for a, b in cables)})
    graph = host_graph(topology)
    found = ring_load(graph, ring_order(graph))
    orders = [(0, *rest) for rest in itertools.permutations(range(1, size))]
    rates = [ring_load(graph, order).bottleneck for order in orders]
    assert ring_load(graph, range(size)).bottleneck <= found.bottleneck <= max(rates)
    cycles = [order for order in orders if ring_load(graph, order).longest == 1]
    assert (found.longest == 1) or not cycles


def test_leaves_of_a_fat_tree_stay_together_whatever_the_names():
    topology = shuffled(fabric("fat-tree-4"))
    launch = launch_of(topology)
    assert launch.loads["cables"].links == launch_of(fabric("fat-tree-4")).loads["topology"].links
    assert launch.loads["text"].links > launch.loads["cables"].links


def test_gpus_of_a_box_have_consecutive_ranks():
    launch = launch_of(fabric("dgx-a100-2"))
    assert [host.name for host in launch.hosts] == ["host0", "host1"]
    assert [host.first_rank for host in launch.hosts] == [0, 8]
    assert launch.loads["cables"].bottleneck == 200
    assert launch.is_renamed and not launch.needs_relays


def test_two_links_share_the_limit_of_a_spark():
    topology = fabric("dgx-spark-4")
    graph = host_graph(topology)
    assert ring_load(graph, (0, 1, 2, 3)).bottleneck == 25
    # Over relays two messages leave each port, and all of them share 25 GB/s.
    assert ring_load(graph, (0, 2, 1, 3)).bottleneck < 25


PLANT = {
    "schema": "plant/1",
    "panels": [{"id": "panel", "ports": 8}],
    "hosts": [
        {"id": name, "ports": [
            {"id": f"rdma_en{2 + port}", "at": f"panel/{2 * index + port}"} for port in range(2)
        ]}
        for index, name in enumerate(["mac-c", "mac-a", "mac-d", "mac-b"])
    ],
}  # fmt: skip


def script_of(plant):
    names = [host.id for host in plant.hosts]
    cables = [(names[i], names[(i + 1) % len(names)]) for i in (0, 1, 2, 3)]
    ring = Topology(names, [*cables, *((b, a) for a, b in cables)])
    return read_script(json.loads(json.dumps(to_document(plan_moves(ring, plant)))), plant)


@pytest.mark.parametrize("form", LAUNCH_FILES)
def test_a_file_of_a_plan_names_hosts_in_the_order_of_its_cables(form):
    plant = read_plant(PLANT)
    ranks = READERS[form](RENDERERS[form].write(script_of(plant)))
    assert ranks == ["mac-c", "mac-a", "mac-d", "mac-b"]


def test_devices_of_a_plan_face_each_other():
    script = script_of(read_plant(PLANT))
    rows = json.loads(RENDERERS["mlx-hostfile"].write(script))
    cabled = {
        (one, other)
        for one, row in enumerate(rows)
        for other, device in enumerate(row["rdma"])
        if device is not None
    }
    assert cabled == {(i, (i + step) % 4) for i in range(4) for step in (1, 3)}
    for row in rows:
        assert sorted(device for device in row["rdma"] if device) == ["rdma_en2", "rdma_en3"]


@pytest.mark.parametrize("form", sorted({*LAUNCH_FILES} - {"mlx-hostfile"}))
@pytest.mark.parametrize("name", ["dgx-a100-2", "Kautz(2, 2)", "fat-tree-2", "mac-studio-ring-5"])
def test_every_file_says_the_order_of_the_launch(form, name):
    topology = build(parse(name)) if "(" in name else fabric(name)
    launch = launch_of(topology)
    ranks = [host.name for host in launch.hosts for _ in host.nodes]
    hosts = [host.name for host in launch.hosts]
    assert READERS[form](WRITERS[form](topology)) == (hosts if form in BY_HOST else ranks)


def test_a_mesh_of_macs_is_what_jaccl_reads():
    rows = json.loads(WRITERS["mlx-hostfile"](fabric("mac-studio-mesh-4")))
    assert [row["rdma"].index(None) for row in rows] == [0, 1, 2, 3]
    assert all(len({*row["rdma"]}) == 4 for row in rows)


def test_nccl_gets_the_devices_of_cabled_ports_and_rings_where_there_are_relays():
    text = WRITERS["nccl-env"](fabric("dgx-spark-4"))
    show = 'echo "$NCCL_IB_HCA $NCCL_ALGO $NCCL_IB_SUBNET_AWARE_ROUTING"'
    code, out, _ = run_as("spark2", text, show)
    assert (code, out) == (0, "=rocep1s0f0,roceP2p1s0f0,rocep1s0f1,roceP2p1s0f1 Ring 1\n")
    assert "NCCL_ALGO" not in WRITERS["nccl-env"](fabric("dgx-spark-3"))
    assert "NCCL_ALGO" not in WRITERS["nccl-env"](fabric("dgx-a100-2"))


@pytest.mark.parametrize("form", ["torchrun", "nccl-env"])
def test_a_host_that_the_launch_does_not_have_is_told_so(form):
    code, out, err = run_as("elsewhere", WRITERS[form](fabric("dgx-spark-2")), "")
    assert (code, out) == (2, "")
    assert err == "elsewhere is no host of this launch: set HOST\n"


@pytest.mark.parametrize(
    ("form", "topology", "rule"),
    [
        ("mpi-hostfile", Topology(["a b", "c"], [("a b", "c"), ("c", "a b")]), "host names"),
        ("mpi-hostfile", Topology(["a", "-c"], [("a", "-c"), ("-c", "a")]), "host names"),
        ("mlx-hostfile", build(parse("Torus(3, 3)")), "names the ports of hosts"),
        ("mlx-hostfile", fabric("dgx-a100-2"), "one on each host"),
        (
            "torchrun",
            Topology(["a.gpu0", "a.gpu1", "b.gpu0"],
                     [("a.gpu0", "a.gpu1"), ("a.gpu1", "b.gpu0"), ("b.gpu0", "a.gpu0")]),
            "as many on each host",
        ),
    ],
)  # fmt: skip
def test_what_a_format_cannot_say_is_refused(form, topology, rule):
    with pytest.raises(InvalidTopology, match=rule):
        WRITERS[form](topology)


def test_hosts_and_ports_of_a_plant_keep_names_that_are_numbers():
    rows = [
        {"id": number, "ports": [{**port, "id": port["id"][-1]} for port in host["ports"]]}
        for number, host in zip("7586", PLANT["hosts"], strict=True)
    ]
    script = script_of(read_plant(PLANT | {"hosts": rows}))
    devices = json.loads(RENDERERS["mlx-hostfile"].write(script))
    assert [row["ssh"] for row in devices] == ["7", "5", "8", "6"]
    assert {device for row in devices for device in row["rdma"]} == {None, "2", "3"}


def test_hosts_of_a_plan_that_no_cable_joins_are_refused():
    plant = read_plant(PLANT)
    names = [host.id for host in plant.hosts]
    pairs = [(names[0], names[1]), (names[2], names[3])]
    apart = Topology(names, [*pairs, *((b, a) for a, b in pairs)])
    script = read_script(json.loads(json.dumps(to_document(plan_moves(apart, plant)))), plant)
    with pytest.raises(DoesNotFit, match="reach"):
        RENDERERS["mpi-hostfile"].write(script)


@pytest.mark.skipif(shutil.which("mpirun") is None, reason="Open MPI is not installed")
def test_open_mpi_places_ranks_in_the_order_of_the_hostfile(tmp_path):
    topology = shuffled(build(parse("Kautz(2, 2)")))
    file = tmp_path / "hosts"
    file.write_text(WRITERS["mpi-hostfile"](topology))
    command = ["mpirun", "--allow-run-as-root", "--hostfile", str(file), "--do-not-launch"]
    command += ["--display-map", "-np", "6", "true"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120)
    placed = [line.split()[3] for line in done.stdout.splitlines() if "Data for node:" in line]
    assert placed == READERS["mpi-hostfile"](file.read_text()), done.stderr


def test_both_ends_of_a_cable_are_in_one_subnet_and_routes_reach_every_host():
    document = json.loads(WRITERS["launch"](shuffled(build(parse("Torus(3, 4)")))))
    hosts = {host["name"]: host for host in document["hosts"]}
    owner = {port["address"]: name for name, host in hosts.items() for port in host["ports"]}
    assert len(owner) == sum(len(host["ports"]) for host in hosts.values())
    for host in hosts.values():
        for port in host["ports"]:
            network = ipaddress.ip_interface(port["address"]).network
            assert ipaddress.ip_address(port["peer_address"]) in network
            assert owner[f"{port['peer_address']}/31"] == port["peer"]
    at = {host["loopback"]: name for name, host in hosts.items()}
    for start, target in itertools.permutations(hosts, 2):
        here, steps = start, 0
        while here != target:
            (via,) = [r["via"] for r in hosts[here]["routes"] if at[r["to"]] == target]
            here, steps = owner[f"{via}/31"], steps + 1
            assert steps < len(hosts)


def test_hosts_behind_switches_and_one_way_links_have_no_addresses():
    for topology in (fabric("dgx-a100-2"), build(parse("UniRing(3)"))):
        document = json.loads(WRITERS["launch"](topology))
        assert not any("loopback" in host for host in document["hosts"])
