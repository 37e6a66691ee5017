"""Reading what ``nvidia-smi nvlink -s`` prints: the links of each GPU, not where they lead."""

import re
from fractions import Fraction
from itertools import combinations

from topoloom.synth.formats.machines.box import Box, Cable, Rates
from topoloom.synth.formats.machines.console_text import console_lines
from topoloom.synth.formats.machines.unlisted_nvlinks import NvLinks, cables, nvlinks
from topoloom.synth.formats.topology_draft import capacity, line, wrong
from topoloom.synth.topology.assumptions import Assumption
from topoloom.synth.topology.topology import NodeId

_GPU = re.compile(r"GPU ([0-9]{1,4}): .{0,200}")
_LINK = re.compile(r"Link ([0-9]{1,3}): (?:([0-9]{1,6}(?:\.[0-9]{1,6})?) GB/s|(<inactive>).*)")
_HUB = "nvswitch"


def nvlink_status(text: str, *, rates: Rates | None = None) -> Box:
    r"""Return the box that ``nvidia-smi nvlink -s`` describes.

    The text states how many links each GPU has and their rate.  It does not state where they lead:
    two GPUs with as many links are a pair, more have a switch, unless ``rates.nvlink`` states a
    mesh or the cables themselves.

    >>> box = nvlink_status("GPU 0: H100\n\t Link 0: 25 GB/s\nGPU 1: H100\n\t Link 0: 25 GB/s\n")
    >>> box.direct
    [('GPU0', 'GPU1', Fraction(25, 1), '/line/1')]
    """
    rates = rates or Rates()
    totals, places = _totals(text, rates)
    stated = nvlinks(rates.nvlink)
    box = Box(dict(places))
    if stated.shape == "none":
        return box
    if stated.whole:
        box.direct = cables(stated, box.gpus, _HUB)
    else:
        box.direct = _joined(box, totals, stated)
    if any(_HUB in cable[:2] for cable in box.direct):
        box.hubs[_HUB] = next(iter(places.values()))
    return box


def _joined(box: Box, totals: dict[NodeId, Fraction], stated: NvLinks) -> list[Cable]:
    """Return the cables of GPUs that have links, to a switch or between all pairs."""
    linked = [gpu for gpu, total in totals.items() if total]
    mesh = stated.shape == "mesh" or (not stated.shape and len(linked) == 2)
    if not stated.shape:
        shape = "join the two GPUs" if mesh else "lead to a switch"
        box.assumed.append(
            Assumption(f"The text does not state where links lead: they {shape}.", "nvlink")
        )
    if not mesh:
        return [(gpu, _HUB, totals[gpu], box.gpus[gpu]) for gpu in linked]
    share = Fraction(1, max(1, len(linked) - 1))
    return [
        (one, other, min(totals[one], totals[other]) * share, box.gpus[one])
        for one, other in combinations(linked, 2)
    ]


def _totals(text: str, rates: Rates) -> tuple[dict[NodeId, Fraction], dict[NodeId, str]]:
    """Return GB/s of all active links of each GPU, and the place of each GPU."""
    totals: dict[NodeId, Fraction] = {}
    places: dict[NodeId, str] = {}
    own = nvlinks(rates.nvlink).link or rates.link
    gpu, seen = "", set[str]()
    for number, content in enumerate(console_lines(text), 1):
        bare, place = content.strip(), line(number)
        if not bare:
            continue
        found, link = _GPU.fullmatch(bare), _LINK.fullmatch(bare)
        if found is not None:
            gpu, seen = f"GPU{int(found[1])}", set()
            if gpu in totals:
                raise wrong(place, f"{gpu} must be described once")
            totals[gpu], places[gpu] = Fraction(0), place
        elif link is None or not gpu or link[1] in seen:
            raise wrong(place, f"must be a GPU, or another of its links; not {bare[:40]!r}")
        else:
            seen.add(link[1])
            if link[2] is not None:
                totals[gpu] += Fraction(own) if own else capacity(link[2], place)
    if not totals:
        raise wrong("", "must have a line that begins with GPU 0")
    return totals, places
