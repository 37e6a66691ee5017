"""Line graphs of smaller graphs with good slack schedules, where no candidate is as good.

The catalog expands graphs by their broadcast costs.  Slack schedules make further graphs good,
and line graphs keep the gain: if a graph of N nodes has a slack schedule of T steps and bandwidth
T_B, its line graph of d N nodes has one of T + 1 steps and bandwidth at most T_B + 1 / N.  So a
frontier at N / d nodes gives good graphs of N nodes.  Where d does not divide N, a few nodes are
inserted into line graphs, or removed from them.
"""

from collections.abc import Callable, Iterator, Sequence

from topoloom.synth.evaluation.cost import Links, lower_bound, optimal_bandwidth
from topoloom.synth.recipes.build import traits
from topoloom.synth.recipes.recipe import LineGraph, Recipe
from topoloom.synth.search import limits
from topoloom.synth.search.candidates import Candidate, undominated
from topoloom.synth.search.recipe_enumeration import Constraints
from topoloom.synth.search.resize import resized_to_diameter
from topoloom.synth.search.slack_candidates import optimal_steps, with_slack_schedules
from topoloom.synth.slack import MAX_DEGREE

FewStepCandidates = Callable[[int, int], Sequence[Candidate]]
"""Map a number of nodes and a maximum number of steps to the known candidates."""


def target_steps(nodes: int, degree: int) -> int:
    """Return the number of steps within which a one-way graph should be good.

    >>> target_steps(1000, 4), target_steps(1000, 2)
    (6, 11)
    """
    more = limits.LINE_GRAPH_STEPS if degree > 2 else limits.LINE_GRAPH_STEPS_OF_DEGREE_2
    return lower_bound(nodes, degree, Links.UNIDIRECTIONAL).steps + more


def with_line_graphs(
    found: tuple[Candidate, ...],
    constraints: Constraints,
    nodes: int,
    degree: int,
    most: int,
    few_step_candidates: FewStepCandidates,
) -> tuple[Candidate, ...]:
    """Return undominated candidates, with line graphs of smaller graphs where these may help.

    Line graphs are added only to one-way graphs of 2 to `synth.slack.MAX_DEGREE` links, if every
    family is allowed, and if no good candidate takes at most ``most`` steps.

    Reads the candidates of about nodes / degree nodes and a step less.  Those may in turn read the
    candidates of nodes / degree^2 nodes, and so on.
    """
    if not _may_help(constraints, nodes, degree) or _is_good(found, nodes, most):
        return found
    large = nodes > limits.LARGE_LINE_GRAPH_NODES
    count = limits.LARGE_LINE_GRAPHS if large else limits.LINE_GRAPHS
    made = _made(nodes, degree, most, few_step_candidates)[:count]
    steps = optimal_steps(found, nodes) - 1
    slack = with_slack_schedules((), made, nodes, degree, limits.MAX_LINE_GRAPH_NODES**2, steps)
    return undominated([*found, *slack])


def _may_help(constraints: Constraints, nodes: int, degree: int) -> bool:
    chosen = (
        constraints.bidirectional
        or constraints.vertex_transitive
        or constraints.families is not None
    )
    fits = 2 <= degree <= MAX_DEGREE and 2 * degree**2 <= nodes <= limits.MAX_LINE_GRAPH_NODES
    return fits and not chosen


def _is_good(found: Sequence[Candidate], nodes: int, most: int) -> bool:
    limit = optimal_bandwidth(nodes) * limits.GOOD_BANDWIDTH
    return any(one.bandwidth <= limit for one in found if one.steps <= most)


def _made(
    nodes: int, degree: int, most: int, few_step_candidates: FewStepCandidates
) -> tuple[Recipe, ...]:
    """Return graphs of ``nodes`` nodes and at most ``most`` steps.

    They are resized line graphs of the nearest size or, if none fits, of the next size on the
    other side.
    """
    base_nodes, rest = divmod(nodes, degree)
    if rest == 0:
        return tuple(_line_graphs(base_nodes, most, few_step_candidates))
    sizes = (base_nodes, base_nodes + 1)
    if 2 * rest > degree:
        sizes = sizes[::-1]
    for size in sizes:
        words = limits.LINE_GRAPH_RESIZE_WORDS
        tried = (
            resized_to_diameter(one, nodes, most, 1, words)
            for one in _line_graphs(size, most, few_step_candidates)
        )
        made = tuple(dict.fromkeys(one for one in tried if one is not None))
        if made:
            return made
    return ()


def _line_graphs(
    nodes: int, most: int, few_step_candidates: FewStepCandidates
) -> Iterator[LineGraph]:
    """Yield line graphs of the best graphs of ``nodes`` nodes and at most ``most - 1`` steps."""
    regular = [one for one in few_step_candidates(nodes, most - 1) if traits(one.recipe).regular]
    regular.sort(key=lambda one: (one.bandwidth, one.steps, str(one.recipe)))
    for of in dict.fromkeys(one.recipe for one in regular[: limits.LINE_GRAPHS]):
        yield LineGraph.once_more(of)
