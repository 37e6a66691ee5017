"""The route that SimAI-OXC calls: every answer is an allreduce of every domain."""

from collections import Counter, defaultdict
from math import log2

import pytest

PATH = "/api/oxc/allreduce"
RANKTABLE = {"version": "2.0", "status": "completed", "rank_count": 16, "rank_list": []}


def asked(domains, algorithm="ALGO_OXC_RING", volume=16777216, **more):
    return {
        "ranktable": RANKTABLE,
        "dpCommDomain": domains,
        "commDomainVolume": volume,
        "rankIdRackIdMap": {str(rank): f"rack_{rank // 8}" for rank in range(64)},
        "algName": algorithm,
        **more,
    }


def flows_of(client, *args, **more):
    answer = client.post(PATH, json=asked(*args, **more))
    assert answer.status_code == 200, answer.text
    assert answer.headers["content-type"] == "application/json"
    flows = answer.json()
    assert all(len(flow) == 4 and all(type(part) is int for part in flow) for flow in flows)
    return flows


def require_everything_arrives(flows, domains):
    """Every rank hears, over the steps, of every rank of its domain, and of no other."""
    steps = defaultdict(list)
    for source, target, step, size in flows:
        assert size > 0
        steps[step].append((source, target))
    assert sorted(steps) == list(range(len(steps)))
    knows = {rank: {rank} for domain in domains for rank in domain}
    for step in sorted(steps):
        before = {rank: set(known) for rank, known in knows.items()}
        for source, target in steps[step]:
            knows[target] |= before[source]
    for domain in domains:
        assert all(knows[rank] == {*domain} for rank in domain)


@pytest.mark.parametrize(
    ("algorithm", "count", "steps"),
    [
        ("ALGO_OXC_RING", 2, 2),
        ("ALGO_OXC_RING", 5, 8),
        ("ALGO_OXC_HD", 2, 2),
        ("ALGO_OXC_HD", 8, 6),
        ("ALGO_OXC_NB", 6, 2),
        ("Torus(4, 4)", 16, 8),
        ("Kautz(2, 2)", 6, 4),
    ],
)
def test_the_flows_of_every_algorithm_are_an_allreduce(client, algorithm, count, steps):
    domains = [[8 * at for at in range(count)], [8 * at + 1 for at in range(count)]]
    flows = flows_of(client, domains, algorithm)
    require_everything_arrives(flows, domains)
    assert {step for *_, step, _ in flows} == {*range(steps)}


@pytest.mark.parametrize("algorithm", ["ALGO_OXC_RING", "ALGO_OXC_HD"])
def test_every_rank_sends_the_bytes_of_an_optimal_allreduce(client, algorithm):
    flows = flows_of(client, [list(range(8))], algorithm, volume=8000)
    sent = Counter()
    for source, _, _, size in flows:
        sent[source] += size
    assert sent == Counter(dict.fromkeys(range(8), 2 * 7000))


def test_halving_has_one_partner_in_each_step(client):
    flows = flows_of(client, [list(range(16))], "ALGO_OXC_HD")
    partners = Counter((source, step) for source, _, step, _ in flows)
    assert set(partners.values()) == {1}
    assert len({step for _, step in partners}) == 2 * log2(16)


def test_a_ring_crosses_each_pair_of_racks_once(client):
    # Ranks of racks 0 and 1 in turn.
    domain = [0, 8, 1, 9, 2, 10]
    flows = flows_of(client, [domain])
    across = {(one, other) for one, other, *_ in flows if one // 8 != other // 8}
    assert len(across) == 2


def test_a_volume_that_a_program_in_c_prints_is_taken(client):
    flows = flows_of(client, [[0, 1]], volume=1.67772e07)
    assert {size for *_, size in flows} == {8388600}


@pytest.mark.slow
def test_more_flows_than_the_client_can_read_in_time_are_refused(client):
    answer = client.post(PATH, json=asked([list(range(1200))]))
    assert answer.status_code == 422
    assert answer.json()["errors"][0]["pointer"] == "/dpCommDomain"


@pytest.mark.parametrize(
    ("change", "pointer"),
    [
        ({"algName": "ALGO_OXC_XY"}, "/algName"),
        ({"algName": "Torus(4, 4)"}, "/algName"),
        ({"algName": "ALGO_OXC_HD", "dpCommDomain": [[0, 1, 2]]}, "/algName"),
        ({"commDomainVolume": 1}, "/commDomainVolume"),
        ({"commDomainVolume": 10.5}, "/commDomainVolume"),
        ({"dpCommDomain": [[0]]}, "/dpCommDomain/0"),
        ({"dpCommDomain": [[0, 1], [1, 2]]}, "/dpCommDomain"),
        ({"rankIdRackIdMap": {"a": "b"}}, "/rankIdRackIdMap"),
        ({"racks": {}}, "/racks"),
    ],
)
def test_what_cannot_be_scheduled_is_refused_at_its_member(client, change, pointer):
    answer = client.post(PATH, json=asked([[0, 8]]) | change)
    assert answer.status_code == 422, answer.text
    assert answer.json()["errors"][0]["pointer"].startswith(pointer)
