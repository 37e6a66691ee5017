"""Explanation of a frontier: lower bounds, and the proof of the cost of each point."""

from collections.abc import Iterator
from fractions import Fraction
from typing import Any

from topoloom.app.cli.output.formatting import fraction, name_of, steps_of
from topoloom.synth.recipes.recipe import parse


def explanation_lines(document: dict[str, Any]) -> Iterator[str]:
    """Yield the lines that explain a frontier/1 document: bounds, then points."""
    yield from _bounds(document)
    for number, point in enumerate(document["frontier"], start=1):
        bandwidth = fraction(point["bandwidth"])
        yield f"{number}. {name_of(point)}: {steps_of(point)} steps, T_B {bandwidth}"
        yield f"   recipe: {point['recipe']}{_atlas_note(point)}"
        yield f"   {_cost_by(point)}"
        yield f"   {_beside(point['gap'])}"


def _bounds(document: dict[str, Any]) -> Iterator[str]:
    request, bounds = document["request"], document["bounds"]
    nodes, degree = request["nodes"], request["degree"]
    two_way = request["links"] == "bidirectional"
    steps = bounds["steps"]
    reached = _ball(degree, steps - 1, two_way)
    yield (
        f"no topology takes fewer than {steps} steps: in {steps - 1} a host reaches at most "
        f"{reached} hosts, including itself, not {nodes} (the Moore bound)"
    )
    yield (
        f"no topology has T_B below {fraction(bounds['bandwidth'])}: every host must receive the "
        f"shards of {nodes - 1} others over its links"
    )


def _ball(degree: int, radius: int, two_way: bool) -> int:
    """Return the largest possible number of nodes within a radius.

    >>> _ball(3, 2, two_way=False), _ball(3, 2, two_way=True)
    (13, 10)
    """
    on = degree - two_way
    return 1 + sum(degree * on**distance for distance in range(radius))


def _atlas_note(point: dict[str, Any]) -> str:
    """Return the search that found the graph, if the graph is in the atlas, else an empty text."""
    from topoloom.synth.atlas.bundled import bundled_of

    size = point["nodes"], point["degree"]
    atlas = bundled_of(*size)
    entries = (*atlas.of_size(*size, by_slack=True), *atlas.of_size(*size))
    search = next((entry.found for entry in entries if entry.recipe == point["recipe"]), None)
    return "" if search is None else f" (in the atlas: {search})"


def _cost_by(point: dict[str, Any]) -> str:
    """Return the schedule of the cost, and the theorem or measurement that proves the cost."""
    from topoloom.synth.recipes.claims import claim

    if point["algorithm"] == "slack":
        return (
            f"by a slack schedule within {point['within_steps']} steps: shards arrive in chosen "
            "steps; at every host and step, every set of links carries the shards that can arrive "
            "over no other link (the slack schedule theorem)"
        )
    stated = claim(parse(point["recipe"]))
    if stated is None:
        return "by breadth-first broadcast: the optimum, measured over all destinations"
    claim_text = (
        "exactly this cost" if stated.exact else f"at most {stated.steps} steps, {stated.bandwidth}"
    )
    return (
        "by breadth-first broadcast: the optimum, measured; the theorems of the family and "
        f"operators state {claim_text}"
    )


def _beside(gap: dict[str, Any]) -> str:
    """Return which bounds the worse of both directions meets."""
    above = f"{gap['steps']} step{'s' if gap['steps'] > 1 else ''}"
    match gap["steps"], Fraction(gap["bandwidth"]):
        case 0, 0:
            return "both bounds are met: nothing can be better"
        case 0, share:
            return f"no topology has fewer steps; T_B is {float(share):.2%} above its bound"
        case _, 0:
            return f"no topology has less T_B; steps are {above} above their bound"
        case _, share:
            return f"best known: {above} and {float(share):.2%} of T_B above the bounds"
