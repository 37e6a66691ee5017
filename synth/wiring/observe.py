"""What panels say is plugged, held against a plan: how far it is, and what is wrong.

The smallest repair is what differs: a pair that is there and should not be goes, one that is
missing comes.  Pairs that are of others, or of no host of the plan, are left alone.
"""

from collections.abc import Iterable
from dataclasses import dataclass

from synth.wiring.devices.script import Script, Step
from synth.wiring.plant import Pair, Port, Present

__all__ = ["Comparison", "Misplaced", "compared"]


@dataclass(frozen=True, slots=True)
class Misplaced:
    """A port that is joined to another than the plan says; None for nothing."""

    port: Port
    wanted: Port | None
    found: Port | None


@dataclass(frozen=True, slots=True)
class Comparison:
    """Observed pairs beside what a plan wants of the panels that were looked at.

    ``stages_done`` is the number of stages after which the panels are as observed, or None if
    they are so after none: somebody else was at work, or a stage is half done.
    """

    missing: tuple[Pair, ...]
    extra: tuple[Pair, ...]
    misplaced: tuple[Misplaced, ...]
    stages_done: int | None

    @property
    def matches(self) -> bool:
        """Whether all is as the plan wants it."""
        return not (self.missing or self.extra)

    @property
    def repair(self) -> Step:
        """What leads from what was observed to what the plan wants, and nothing more."""
        return Step(self.extra, self.missing)


def compared(script: Script, observed: Present, panels: Iterable[int] | None = None) -> Comparison:
    """Return how what was observed differs from the end of a plan.

    Parameters
    ----------
    script : Script
    observed : Present
        What was seen.
    panels : iterable of int, optional
        The panels that were looked at; left out, all.

    Examples
    --------
    >>> from synth.topology import Topology
    >>> from synth.wiring import plan_moves, sized, to_document
    >>> from synth.wiring.devices import read_script
    >>> ring = Topology(range(3), [(0, 1), (1, 2), (2, 0)])
    >>> script = read_script(to_document(plan_moves(ring, sized(ring))))
    >>> compared(script, Present()).stages_done, compared(script, script.final).stages_done
    (0, 1)
    >>> found = compared(script, Present.of([(0, 0, 1), (0, 1, 0)]))
    >>> found.missing, found.extra
    ((Pair(panel=0, a=1, b=2), Pair(panel=0, a=2, b=0)), (Pair(panel=0, a=1, b=0),))
    """
    looked = frozenset(range(len(script.plant.panels)) if panels is None else panels)
    seen = {pair for pair in observed.pairs if pair.panel in looked}
    wanted = {pair for pair in script.final.pairs if pair.panel in looked}
    # What was there before the plan and stays is wanted; new pairs of strangers are not ours.
    theirs = {pair for pair in seen - wanted if not _touches(script, pair, wanted)}
    missing, extra = tuple(sorted(wanted - seen)), tuple(sorted(seen - wanted - theirs))
    return Comparison(
        missing,
        extra,
        _misplaced(script, missing, extra),
        _stage(script, seen, looked),
    )


def _touches(script: Script, pair: Pair, wanted: set[Pair]) -> bool:
    """Whether a pair is the plan's business: it is on a port of its hosts, or in the way."""
    if pair in script.plant.present.foreign:
        return False
    ends = set(script.plant.ends(pair))
    return bool(ends & script.peers.keys()) or any(
        ends & set(script.plant.ends(other)) for other in wanted if other.panel == pair.panel
    )


def _misplaced(
    script: Script, missing: tuple[Pair, ...], extra: tuple[Pair, ...]
) -> tuple[Misplaced, ...]:
    wanted, found = _partners(script, missing), _partners(script, extra)
    return tuple(
        Misplaced(port, wanted.get(port), found.get(port))
        for port in sorted(wanted.keys() | found.keys())
    )


def _partners(script: Script, pairs: Iterable[Pair]) -> dict[Port, Port]:
    joined: dict[Port, Port] = {}
    for pair in pairs:
        one, other = script.plant.ends(pair)
        joined[one], joined[other] = other, one
    return joined


def _stage(script: Script, seen: set[Pair], looked: frozenset[int]) -> int | None:
    """Return the last stage after which exactly this is plugged."""
    state = {pair for pair in script.base.pairs if pair.panel in looked}
    done = 0 if state == seen else None
    for number, step in enumerate(script.steps, start=1):
        state = state - set(step.removes) | {p for p in step.adds if p.panel in looked}
        if state == seen:
            done = number
    return done
