"""Random plants as JSON, with pairs of today, and links between some of their hosts."""

import random
from collections import Counter

from tests.synth.wiring_oracle import MOST_TRUNKS, Case, Sides, fewest, is_two_way, lit


def case(seed):
    """Return a plant of one-way or duplex ports, of one or two lanes, with trunks or without."""
    draw = random.Random(seed)
    document = random_plant(draw)
    document["cross_connects"] = today(draw, document)
    return Case(document, *some_links(draw, document))


def random_plant(draw):
    """Return a plant without pairs."""
    flavour = draw.choice(("one-way", "duplex", "one-sided", "two-sided"))
    directed = flavour in ("one-way", "duplex")
    lanes, count = draw.choice((1, 1, 2)), draw.randint(1, 3)
    used = Counter()

    def fibres(panels, side):
        names = []
        for panel in panels:
            number, used[panel, side] = used[panel, side], used[panel, side] + 1
            names.append(f"p{panel}/{number}{'' if flavour == 'one-sided' else side}")
        return names

    def port(number):
        there = [draw.randrange(count) for _ in range(lanes)]
        if not directed:
            side = draw.choice("AB") if flavour == "two-sided" else "A"
            return {"id": str(number), "at": fibres(there, side)}
        back = [draw.randrange(count) for _ in range(lanes)] if draw.random() < 0.3 else there
        two_way = {"duplex": True} if flavour == "duplex" else {}
        return {"id": str(number), "tx": fibres(there, "A"), "rx": fibres(back, "B"), **two_way}

    hosts = [
        {"id": f"h{h}", "ports": [port(number) for number in range(draw.randint(1, 3))]}
        for h in range(draw.randint(2, 5))
    ]
    trunks = []
    for _ in range(draw.randint(0, 6) if count > 1 else 0):
        sides = {"one-sided": "AA", "two-sided": draw.choice(("AA", "AB", "BA", "BB"))}
        ends = zip(draw.sample(range(count), 2), sides.get(flavour, "BA"), strict=True)
        source, target = (fibres([panel], side)[0] for panel, side in ends)
        trunks.append({"from": source, "to": target})
    mode = "directed" if directed else "bidirectional"
    panels = [
        {"id": f"p{p}", "mode": mode}
        | ({"ports": used[p, "A"] + 1} if flavour == "one-sided" else
           {"a": used[p, "A"] + 1, "b": used[p, "B"] + 1})
        for p in range(count)
    ]  # fmt: skip
    return {"schema": "plant/1", "panels": panels, "hosts": hosts, "trunks": trunks}


def some_links(draw, document):
    """Return some hosts, and links between them of which no host has more than ports."""
    rows = document["hosts"]
    numbers = sorted(draw.sample(range(len(rows)), draw.randint(2, len(rows))))
    out = {h: len(rows[h]["ports"]) for h in numbers}
    into = out if is_two_way(document) else dict(out)
    links = []
    for _ in range(draw.randint(1, 5)):
        u, v = draw.sample(numbers, 2)
        if out[u] and into[v]:
            out[u], into[v] = out[u] - 1, into[v] - 1
            links.append((f"h{u}", f"h{v}"))
            links += [links[-1][::-1]] if is_two_way(document) else []
    return [f"h{h}" for h in numbers], links


def today(draw, document):
    """Return most pairs of another topology, and some pairs at random; a few are of others.

    No light passes more trunks than that of a new link.
    """
    sides = Sides(document)
    plans = (fewest(Case(document, *some_links(draw, document))) for _ in range(3))
    before = next((sorted(map(sorted, plan.pairs)) for plan in plans if plan), [])
    share = draw.choice((1, 0.8, 0.6))
    pairs = [pair for pair in before if draw.random() < share]
    for _ in range(draw.choice((0, 1, 3, 9))):
        busy = {end for pair in pairs for end in pair}
        choices = [
            [one, other] for one in sides.names if one not in busy
            for other in sides.facing(one) if other not in busy
        ]  # fmt: skip
        pairs += [draw.choice(choices)] if choices else []
    for end in sides.host:
        passed, _ = lit(sides, pairs, end)
        far = passed[MOST_TRUNKS + 1 :]
        pairs = [pair for pair in pairs if frozenset(pair) not in far]
    return [
        {"panel": one[0], "a": one[1], "b": other[1]}
        | ({"foreign": True} if draw.random() < 0.07 else {})
        for one, other in (sides.in_order(pair) for pair in pairs)
    ]
