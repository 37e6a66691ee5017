"""Candidates of little symmetry at large sizes, with a few slack schedules.

At thousands of nodes a slack schedule takes seconds for each graph, and structured graphs reach the
bandwidth bound many steps late.  So one or two resized graphs (`synth.search.resized_candidates`)
take part and, where these are not enough, a random graph.
"""

from collections.abc import Iterable, Sequence
from fractions import Fraction
from itertools import chain

from topoloom.synth.edge_swaps.work_estimates import MAX_NODES
from topoloom.synth.evaluation.cost import Links, lower_bound, optimal_bandwidth
from topoloom.synth.recipes.recipe import Recipe
from topoloom.synth.search import limits
from topoloom.synth.search.candidates import Candidate, measured_unless_dominated, undominated
from topoloom.synth.search.random_seeds import may_reach_depth
from topoloom.synth.search.recipe_enumeration import Constraints
from topoloom.synth.search.resized_candidates import resized_graphs
from topoloom.synth.search.sampled_candidates import (
    atlas_slack_graphs,
    is_sampled_size,
    random_seeds_for,
)
from topoloom.synth.search.slack_candidates import optimal_steps, with_slack_schedules
from topoloom.synth.slack import MAX_DEGREE, MAX_SEARCHED, MAX_STEPS


def is_large(constraints: Constraints, nodes: int, degree: int) -> bool:
    """Return whether `with_large_candidates` adds graphs of this size.

    >>> is_large(Constraints(), 4000, 4), is_large(Constraints(), 1009, 4)
    (True, False)
    """
    fits = degree <= MAX_DEGREE and nodes <= MAX_NODES and not is_sampled_size(nodes, degree)
    return fits and not constraints.vertex_transitive


def with_large_candidates(
    found: tuple[Candidate, ...], constraints: Constraints, nodes: int, degree: int
) -> tuple[Candidate, ...]:
    """Return undominated candidates; at large sizes, add graphs of little symmetry where useful.

    The added graphs are those of an atlas build, resized graphs of fewer steps than any good
    candidate, and a random graph unless a good candidate takes at most one step more than the
    bound, or an even one few steps and random graphs no fewer.  All are judged by breadth-first
    broadcast and by slack schedules; the random graph by slack schedules only where no candidate
    reaches `limits.EVEN_BANDWIDTH` in few steps.  Nothing is added at sizes where
    `synth.search.sampled_candidates` serves.
    """
    if not is_large(constraints, nodes, degree):
        return found
    links = Links.BIDIRECTIONAL if constraints.bidirectional else Links.UNIDIRECTIONAL
    least = lower_bound(nodes, degree, links).steps
    few = least + limits.EVEN_STEPS[links]
    if constraints.families is None:
        # Resized graphs are tried as well: atlas builds older than them miss some good graphs.
        known = atlas_slack_graphs(nodes, degree, links)
        slack = with_slack_schedules((), known, nodes, degree, limits.MAX_LARGE_CELLS)
        found = undominated([*found, *slack])
        good = _least_steps(found, nodes, limits.GOOD_BANDWIDTH)
        near = resized_graphs(nodes, degree, links, lambda other: (), fewer_than=good)
        found = _with_graphs(found, near, nodes, degree, with_slack=True)
    even = _least_steps(found, nodes, limits.EVEN_BANDWIDTH)
    uneven, good = even > few, _least_steps(found, nodes, limits.GOOD_BANDWIDTH)
    # Beside an even candidate, broadcast on a random graph is of use in fewer steps only.
    if uneven or (good > least + 1 and may_reach_depth(nodes, degree, links, even - 1)):
        random = random_seeds_for(constraints, nodes, degree, links)[:1]
        found = _with_graphs(found, random, nodes, degree, with_slack=uneven)
    return found


def _with_graphs(
    found: tuple[Candidate, ...],
    graphs: Sequence[Recipe],
    nodes: int,
    degree: int,
    *,
    with_slack: bool,
) -> tuple[Candidate, ...]:
    """Return undominated candidates: the given ones and further graphs, measured by broadcast.

    ``with_slack`` adds the slack schedules of the best of these graphs.
    """
    # A graph that is dominated by broadcast may be undominated with a slack schedule.
    rivals = () if with_slack else found
    probed = (measured_unless_dominated(recipe, rivals) for recipe in graphs)
    made = undominated(chain.from_iterable(probed))
    many = limits.LARGE_SLACK_GRAPHS if nodes**2 <= MAX_SEARCHED else limits.HUGE_SLACK_GRAPHS
    chosen = [one.recipe for one in made[:many] if with_slack]
    most = optimal_steps(found, nodes) - 1
    slack = with_slack_schedules((), chosen, nodes, degree, limits.MAX_LARGE_CELLS, most)
    return undominated([*found, *made, *slack])


def _least_steps(found: Iterable[Candidate], nodes: int, ratio: Fraction) -> int:
    """Return the fewest steps in which the bandwidth bound is reached up to a ratio."""
    most = optimal_bandwidth(nodes) * ratio
    near = (one.steps for one in found if one.bandwidth <= most)
    return min(near, default=MAX_STEPS)
