"""Readers of simulators' files, written from their sources and not from the writers."""

from collections import Counter
from fractions import Fraction
from itertools import combinations, product

import yaml

Cables = Counter[tuple[int, int, Fraction]]
"""Cables between numbered nodes with their Gbit/s."""


def ns3_cables(text, fields):
    """Read as ns-3 does: numbers of the first line, switches, the stated number of links."""
    words = iter(text.split())
    head = {name: next(words) for name in fields}
    switches = [
        int(next(words)) for _ in range(int(head["switches"]) + int(head.get("nvswitches", 0)))
    ]
    cables = Cables()
    for _ in range(int(head["links"])):
        one, other, rate, delay, error = (next(words) for _ in range(5))
        assert rate.endswith("Gbps") and delay.endswith("ms") and error == "0"
        cables[min(int(one), int(other)), max(int(one), int(other)),
               Fraction(rate.removesuffix("Gbps"))] += 1  # fmt: skip
    assert next(words, "#") == "#"
    return head, switches, cables


def astra_sim_cables(text):
    """Build what the analytical back end builds: dimension after dimension, the first innermost."""
    document = yaml.safe_load(text)
    sizes = document["npus_count"]
    hosts = [place[::-1] for place in product(*map(range, sizes[::-1]))]
    number = {place: at for at, place in enumerate(hosts)}
    cables, switches = Cables(), Counter()
    for axis, (kind, size) in enumerate(zip(document["topology"], sizes, strict=True)):
        gbps = Fraction(document["bandwidth"][axis]) * 8 * 2**30 / 10**9
        for place in hosts:
            line = [number[(*place[:axis], at, *place[axis + 1 :])] for at in range(size)]
            if place[axis]:
                continue
            if kind == "Switch":
                switches[tuple(line), round(gbps, 6)] += 1
            pairs = list(combinations(line, 2)) if kind == "FullyConnected" else []
            if kind == "Ring":
                pairs = [(line[at], line[(at + 1) % size]) for at in range(size)]
            for one, other in pairs:
                cables[min(one, other), max(one, other), round(gbps, 6)] += 1
    return cables, switches


def htsim_cables(text):
    """Build the tiers that htsim builds: hosts, leaves, switches of the pods, cores."""
    rows = [line.split() for line in text.splitlines() if line and line[0] != "#"]
    tiers, now = [{}], 0
    for name, value in rows:
        if name == "Tier":
            now = int(value) + 1
            tiers.append({})
        else:
            tiers[now][name.lower()] = int(value)
    head, leaf, spine, *core = tiers
    hosts, down = head["nodes"], leaf["radix_down"]
    pods = hosts // head["podsize"]
    leaves, bundle = head["podsize"] // down, spine["bundle"]
    spines = leaf["radix_up"] // bundle
    assert spine["radix_down"] == leaves * bundle
    assert down // leaf["radix_up"] == leaf["oversubscribed"]
    cables = Cables()
    for host in range(hosts):
        cables[host, hosts + host // down, Fraction(leaf["downlink_speed_gbps"])] += 1
    first = hosts + pods * leaves
    for pod, at, top in product(range(pods), range(leaves), range(spines)):
        ends = hosts + pod * leaves + at, first + pod * spines + top
        cables[*ends, Fraction(spine["downlink_speed_gbps"])] += bundle
    for tier in core:
        each = spine["radix_up"] // tier["bundle"]
        assert tier["radix_down"] == pods * tier["bundle"]
        for pod, top, at in product(range(pods), range(spines), range(each)):
            ends = first + pod * spines + top, first + pods * spines + top * each + at
            cables[*ends, Fraction(tier["downlink_speed_gbps"])] += tier["bundle"]
    return cables


def infragraph_graph(text):
    """Return the graph that InfraGraph's own service makes of a text."""
    from infragraph import Infrastructure
    from infragraph.infragraph_service import InfraGraphService

    service, infrastructure = InfraGraphService(), Infrastructure()
    infrastructure.deserialize(text)
    service.set_graph(infrastructure)
    return service.get_networkx_graph()
