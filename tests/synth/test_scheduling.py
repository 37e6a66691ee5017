"""Files for schedulers: their groups are those of the fabric, and Slurm itself reads them."""

import itertools
import os
import pwd
import re
import shutil
import subprocess
from collections import defaultdict
from fractions import Fraction

import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

from topoloom.synth.errors import InvalidTopology
from topoloom.synth.fabrics import fabric
from topoloom.synth.formats import WRITERS, read
from topoloom.synth.launch.host_graph import host_graph
from topoloom.synth.recipes.build import build
from topoloom.synth.recipes.recipe import parse
from topoloom.synth.scheduling.blocks import blocks, capacity_between
from topoloom.synth.scheduling.cluster import cluster_of
from topoloom.synth.topology.topology import Topology

FABRICS = ["fat-tree-4", "dgx-a100-4", "gb200-nvl72-2", "dragonfly-2-1-1-3", "rail-4-8"]
DIRECT = ["Torus(4, 4)", "Hypercube(4)", "Kautz(2, 3)", "BiRing(7)"]
SLURMCTLD = shutil.which("slurmctld", path=f"{os.environ.get('PATH', '')}:/usr/sbin")


def topology_of(name):
    return build(parse(name)) if "(" in name else fabric(name)


def leaving(topology, parts):
    """Return the capacity between parts of a topology without switches, link by link."""
    part = {node: index for index, nodes in enumerate(parts) for node in nodes}
    return sum(Fraction(c) for a, b, c in topology.links if part[a] != part[b])


@pytest.mark.parametrize("name", [*FABRICS, *DIRECT])
def test_every_host_is_in_one_block_and_in_one_group_of_each_level(name):
    cluster = cluster_of(topology_of(name))
    every = list(range(len(cluster.names)))
    assert sorted(itertools.chain(*cluster.parts)) == every
    for level, groups in enumerate(cluster.levels):
        assert sorted(itertools.chain(*(group.hosts for group in groups))) == every
        if level + 1 < len(cluster.levels):
            for group in groups:
                assert {*group.hosts} <= {*cluster.levels[level + 1][group.parent].hosts}


def test_the_levels_of_a_fat_tree_are_its_edges_its_pods_and_its_core():
    levels = cluster_of(fabric("fat-tree-4")).levels
    assert [[len(group.hosts) for group in groups] for groups in levels] == [[2] * 8, [4] * 4, [16]]
    assert levels[0][0].name == "0.edge0"


@pytest.mark.parametrize(
    ("name", "sizes"),
    [
        ("gb200-nvl72-2", [18, 18]),
        ("fat-tree-4", [2] * 8),
        ("Torus(4, 4)", [4] * 4),
        ("BiRing(7)", [2, 2, 3]),
    ],
)
def test_blocks_are_racks_leaves_or_even_parts(name, sizes):
    cluster = cluster_of(topology_of(name))
    assert sorted(map(len, cluster.parts)) == sizes


@pytest.mark.parametrize("name", ["BiRing(6)", "Torus(2, 4)", "Hypercube(3)", "Complete(6)"])
def test_no_partition_of_few_hosts_into_such_parts_has_less_capacity_between(name):
    topology = topology_of(name)
    graph = host_graph(topology)
    found = blocks(graph)
    sizes = sorted(map(len, found))
    least = min(
        leaving(topology, parts) for parts in partitions(list(range(len(graph.hosts))), sizes)
    )
    assert capacity_between(graph, found) == leaving(topology, found) == least


def partitions(hosts, sizes):
    """Yield every partition into parts of these sizes."""
    if not sizes:
        yield []
        return
    for chosen in itertools.combinations(hosts[1:], sizes[0] - 1):
        part = [hosts[0], *chosen]
        rest = [host for host in hosts if host not in part]
        yield from ([part, *others] for others in partitions(rest, sizes[1:]))


@settings(deadline=None, max_examples=30)
@given(st.integers(4, 9), st.randoms(use_true_random=False))
def test_blocks_of_any_cables_are_even_and_their_capacity_is_counted_link_by_link(size, draw):
    cables = {(index, draw.randrange(index)) for index in range(1, size)}
    cables |= {tuple(draw.sample(range(size), 2)) for _ in range(size)}
    topology = Topology(range(size), {*cables, *((b, a) for a, b in cables)})
    graph = host_graph(topology)
    parts = blocks(graph)
    assert max(map(len, parts)) - min(map(len, parts)) <= 1
    assert capacity_between(graph, parts) == leaving(topology, parts)


# Read back: by readers of the tests, by our own, by Slurm.


def rows_of_conf(text):
    rows = [line.split() for line in text.splitlines() if not line.startswith("#")]
    return [dict(word.split("=", 1) for word in row) for row in rows]


@pytest.mark.parametrize("name", FABRICS)
def test_topology_conf_has_the_tree_of_the_cluster(name):
    topology = topology_of(name)
    cluster = cluster_of(topology)
    below = {}
    for row in rows_of_conf(WRITERS["slurm"](topology)):
        names = (row.get("Nodes") or row["Switches"]).split(",")
        below[row["SwitchName"]] = {host for one in names for host in below.get(one, {one})}
    expected = {
        group.name: {cluster.names[host] for host in group.hosts}
        for groups in cluster.levels
        for group in groups
    }
    assert below == expected


@pytest.mark.parametrize("name", [*FABRICS, *DIRECT, "tpu-v4-4x4x8"])
def test_topology_yaml_has_every_kind_and_one_default(name):
    topology = topology_of(name)
    cluster = cluster_of(topology)
    document = yaml.safe_load(WRITERS["slurm-yaml"](topology))
    assert [entry["cluster_default"] for entry in document] == [True] + [False] * (
        len(document) - 1
    )
    kinds = {entry["topology"]: entry[entry["topology"]] for entry in document}
    assert ("tree" in kinds) == bool(cluster.levels)
    assert ("torus3d" in kinds) == (name == "tpu-v4-4x4x8")
    found = [block["nodes"].split(",") for block in kinds["block"]["blocks"]]
    assert found == [[cluster.names[host] for host in part] for part in cluster.parts]
    assert kinds["block"]["block_sizes"] == [min(map(len, found))]


@pytest.mark.parametrize("name", FABRICS)
def test_conf_and_yaml_are_read_back_as_one_topology(name):
    topology = topology_of(name)
    assert read(WRITERS["slurm"](topology)) == read(WRITERS["slurm-yaml"](topology))


def test_a_torus_comes_back_link_by_link():
    topology = fabric("tpu-v4-4x4x4")
    back = read(WRITERS["slurm-yaml"](topology))
    assert [link[:2] for link in back.links] == [link[:2] for link in topology.links]


def test_blocks_come_back_as_switches_that_one_switch_joins():
    back = read(WRITERS["slurm"](fabric("mac-studio-ring-4")))
    assert back.switches == {"block0", "block1", "network"}
    assert any("no links between blocks" in one.text for one in back.assumed)


@pytest.mark.parametrize("name", ["fat-tree-4", "gb200-nvl72-2"])
def test_labels_agree_with_the_levels_of_the_topology_objects(name):
    topology = topology_of(name)
    nodes = list(yaml.safe_load_all(WRITERS["node-labels"](topology)))
    cluster = cluster_of(topology)
    assert [node["metadata"]["name"] for node in nodes] == list(cluster.names)
    levels = [
        yaml.safe_load(WRITERS[form](topology))["spec"]["levels"] for form in ("kueue", "kai")
    ]
    assert levels[0] == levels[1]
    keys = [level["nodeLabel"] for level in levels[0]]
    assert keys[-1] == "kubernetes.io/hostname"
    groups = defaultdict(set)
    for node in nodes:
        labels = node["metadata"]["labels"]
        assert set(labels) == set(keys[:-1])
        assert all(
            re.fullmatch(r"[A-Za-z0-9]([\w.-]{0,61}[A-Za-z0-9])?", v) for v in labels.values()
        )
        groups[labels[keys[-2]]].add(node["metadata"]["name"])
    assert sorted(map(len, groups.values())) == sorted(map(len, cluster.parts))


@pytest.mark.parametrize("form", ["slurm", "slurm-yaml", "node-labels", "kueue", "kai"])
def test_ids_that_are_no_host_names_are_refused(form):
    with pytest.raises(InvalidTopology, match="as host names"):
        WRITERS[form](Topology(["a b", "c"], [("a b", "c"), ("c", "a b")]))


BAD_YAML = [
    ("- topology: t\n  tree: {switches: [{switch: 1.5}]}", "/0/tree/switches/0/switch", "a text"),
    ("- topology: t\n  tree: {switches: [{nodes: a}]}", "/0/tree/switches/0/switch", "name"),
    ("- topology: t\n  tree: {switches: 3}", "/0/tree/switches", "a list"),
    ("- topology: t\n  tree: {}\n  block: {}", "/0", "exactly one of"),
    ("- topology: t\n  torus3d: {toruses: [{name: x, nodes: 'n[1-7]', dims: {x: 2, y: 2, z: 2}}]}",
     "/0/torus3d/toruses/0/nodes", "8 hosts; not 7"),
    ("- topology: t\n  torus3d: {toruses: [{name: x, nodes: n, dims: {x: 2}}]}",
     "/0/torus3d/toruses/0/dims", "positive integers"),
    ("- topology: t\n  tree: {switches: [{switch: s, nodes: 'n[3-1]'}]}",
     "/0/tree/switches/0", "ascending"),
    ("- " * 40 + "a", "/line/1", "20 deep"),
]  # fmt: skip


@pytest.mark.parametrize(("text", "place", "words"), BAD_YAML)
def test_a_topology_yaml_that_breaks_a_rule_is_blamed_at_its_place(text, place, words):
    with pytest.raises(InvalidTopology) as caught:
        read(text, "slurm-yaml")
    assert caught.value.field == place
    assert words in caught.value.rule


def test_a_text_that_is_no_yaml_is_blamed_at_a_line():
    with pytest.raises(InvalidTopology, match=r"/line/\d+: must be YAML"):
        read("- topology: [", "slurm-yaml")


@pytest.mark.skipif(SLURMCTLD is None, reason="slurmctld is not installed")
@pytest.mark.parametrize("name", ["fat-tree-4", "gb200-nvl72-2"])
def test_slurmctld_reads_the_tree_that_was_written(name, tmp_path, port):
    topology = topology_of(name)
    cluster = cluster_of(topology)
    (tmp_path / "topology.conf").write_text(WRITERS["slurm"](topology))
    user = pwd.getpwuid(os.getuid()).pw_name
    (tmp_path / "slurm.conf").write_text(
        f"ClusterName=test\nSlurmctldHost=localhost\nSlurmUser={user}\nAuthType=auth/none\n"
        f"CryptoType=crypto/none\nStateSaveLocation={tmp_path}\nMpiDefault=none\n"
        f"SlurmctldPidFile={tmp_path}/pid\nSlurmctldPort={port}\nProctrackType=proctrack/linuxproc\n"
        "TopologyPlugin=topology/tree\nSelectType=select/cons_tres\nSlurmctldDebug=debug\n"
        f"NodeName={','.join(cluster.names)}\nPartitionName=all Nodes=ALL Default=YES\n"
    )
    command = [SLURMCTLD, "-D", "-c", "-f", str(tmp_path / "slurm.conf")]
    said = []
    pattern = re.compile(r"Switch level:(\d+) name:(\S+) nodes:(\S+)")
    expected = sum(map(len, cluster.levels))
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
    ) as run:
        try:
            for line in run.stdout:
                said.append(line)
                if len(found := pattern.findall("".join(said))) == expected:
                    break
        finally:
            run.kill()
    found = {(int(level), switch) for level, switch, _ in pattern.findall("".join(said))}
    assert found == {
        (level, group.name) for level, groups in enumerate(cluster.levels) for group in groups
    }, "".join(said[-20:])
