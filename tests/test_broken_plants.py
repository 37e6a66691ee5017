"""One fault in a valid plant gives one error at its place in the document."""

import copy
import random
from collections.abc import Callable
from typing import Any

import pytest

from topoloom.synth.errors import InvalidPlant
from topoloom.synth.wiring.plant import read_plant

Document = dict[str, Any]


def plant(rng: random.Random) -> Document:
    """Return a valid plant of two directed panels that trunks join, with one-way host ports."""
    size = rng.randint(2, 5)
    panels = [
        {"id": f"p{panel}", "mode": "directed", "a": size + 2, "b": size + 2, "loss_db": 1}
        for panel in range(2)
    ]
    hosts = [
        {
            "id": f"h{host}",
            "ports": [
                {"id": f"e{panel}", "tx": f"p{panel}/{host}A", "rx": f"p{panel}/{host}B"}
                for panel in range(2)
            ],
        }
        for host in range(size)
    ]
    trunks = [{"from": f"p0/{size}B", "to": f"p1/{size}A", "loss_db": 1}]
    return {
        "schema": "plant/1",
        "link_budget_db": rng.randint(1, 9),
        "panels": panels,
        "hosts": hosts,
        "trunks": trunks,
        "cross_connects": [{"panel": "p0", "a": f"{size}A", "b": f"{size + 1}B"}],
    }


def changed(member: str, value: object, *path: str) -> Callable[[Document, random.Random], str]:
    """Return a fault: another value of a member, of a random entry of every list on the path."""

    def break_plant(document: Document, rng: random.Random) -> str:
        here, pointer = document, ""
        for name in path:
            number = rng.randrange(len(here[name]))
            here, pointer = here[name][number], f"{pointer}/{name}/{number}"
        here[member] = value
        return f"{pointer}/{member}"

    return break_plant


def without_ports(document: Document, rng: random.Random) -> str:
    document["panels"].append({"id": "p2", "mode": "directed", "a": [], "b": []})
    return "/panels/2/a"


def port_without_name(document: Document, rng: random.Random) -> str:
    names = [f"x{number}" for number in range(4)]
    names[rng.randrange(4)] = ""
    document["panels"].append({"id": "p2", "mode": "directed", "a": names, "b": 1})
    return "/panels/2"


def half_duplex(document: Document, rng: random.Random) -> str:
    number = rng.randrange(len(document["hosts"]))
    port = document["hosts"][number]["ports"][1]
    del port[rng.choice(["tx", "rx"])]
    port["duplex"] = True
    return f"/hosts/{number}/ports/1"


def taken(document: Document, rng: random.Random) -> str:
    one, other = rng.sample(document["hosts"], 2)
    side = rng.choice(["tx", "rx"])
    other["ports"][0][side] = one["ports"][0][side]
    later = max(document["hosts"].index(one), document["hosts"].index(other))
    return f"/hosts/{later}/ports/0/{side}/0"


FAULTS: dict[str, Callable[[Document, random.Random], str]] = {
    "a budget below 0": changed("link_budget_db", -1),
    "a panel without an id": changed("id", "", "panels"),
    "a host without an id": changed("id", "", "hosts"),
    "a host port without an id": changed("id", "", "hosts", "ports"),
    "moves in less than no time": changed("move_seconds", -1, "panels"),
    "a panel that amplifies": changed("loss_db", -1, "panels"),
    "a trunk that amplifies": changed("loss_db", -1, "trunks"),
    "no move at once": changed("at_once", 0, "panels"),
    "a panel without ports": without_ports,
    "a port without a name": port_without_name,
    "a duplex port with one fiber": half_duplex,
    "two fibers in one port": taken,
}


@pytest.mark.parametrize("fault", FAULTS)
def test_a_fault_of_a_plant_is_one_error_at_its_place(fault: str) -> None:
    for seed in range(8):
        rng = random.Random(seed)
        valid = plant(rng)
        read_plant(copy.deepcopy(valid))
        place = FAULTS[fault](valid, rng)
        with pytest.raises(InvalidPlant) as caught:
            read_plant(valid)
        assert caught.value.field == place, str(caught.value)
