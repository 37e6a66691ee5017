"""Frontiers of large sizes: graphs of little symmetry where they help, labels where these are few.

Labels of thousands of nodes take seconds for each graph, and structured graphs are even mostly
in many steps more than are needed.  So a graph or two take part that are near in size
(`synth.search.resized_candidates`) and, where these are not enough, a random one.
"""

from collections.abc import Iterable, Sequence
from fractions import Fraction

from topoloom.synth.edge_swaps.work_estimates import MAX_NODES
from topoloom.synth.evaluation.cost import Links, lower_bound, optimal_bandwidth
from topoloom.synth.recipes.recipe import Recipe
from topoloom.synth.search import limits
from topoloom.synth.search.candidates import Candidate, measured_unless_dominated, undominated
from topoloom.synth.search.random_seeds import may_be_near
from topoloom.synth.search.recipe_enumeration import Wanted
from topoloom.synth.search.resized_candidates import resized
from topoloom.synth.search.sampled_candidates import drawn_for, labels_serve, swept_graphs
from topoloom.synth.search.slack_candidates import labelled, optimal_within
from topoloom.synth.slack import MAX_DEGREE, MAX_SEARCHED, MAX_STEPS


def takes_more(wanted: Wanted, nodes: int, degree: int) -> bool:
    """Return whether `evened` adds random graphs: of large sizes without symmetry.

    >>> takes_more(Wanted(), 4000, 4), takes_more(Wanted(), 1009, 4)
    (True, False)
    """
    fits = degree <= MAX_DEGREE and nodes <= MAX_NODES and not labels_serve(nodes, degree)
    return fits and not wanted.vertex_transitive


def evened(
    found: tuple[Candidate, ...], wanted: Wanted, nodes: int, degree: int
) -> tuple[Candidate, ...]:
    """Return undominated candidates; at large sizes, add graphs of little symmetry where useful.

    The added graphs are those of an atlas build, resized graphs of fewer steps than any good
    candidate, and a random graph unless a good candidate takes at most one step more than the
    bound, or an even one few steps and random graphs no fewer.  All are judged by breadth-first
    broadcast and by slack schedules; the random graph by slack schedules only where no candidate
    reaches `limits.EVEN_BANDWIDTH` in few steps.  Nothing is added at sizes where
    `synth.search.sampled_candidates` serves.
    """
    if not takes_more(wanted, nodes, degree):
        return found
    links = Links.BIDIRECTIONAL if wanted.bidirectional else Links.UNIDIRECTIONAL
    least = lower_bound(nodes, degree, links).steps
    few = least + limits.EVEN_STEPS[links]
    if wanted.families is None:
        # Resized graphs are tried as well: atlas builds older than them miss some good graphs.
        swept = swept_graphs(nodes, degree, links)
        found = undominated([*found, *labelled((), swept, nodes, degree, limits.MAX_LARGE_CELLS)])
        good = _least_steps(found, nodes, limits.GOOD_BANDWIDTH)
        near = resized(nodes, degree, links, lambda other: (), fewer_than=good)
        found = _with(found, near, nodes, degree, labels=True)
    even = _least_steps(found, nodes, limits.EVEN_BANDWIDTH)
    uneven, good = even > few, _least_steps(found, nodes, limits.GOOD_BANDWIDTH)
    # Beside an even candidate, broadcast on a random graph is of use in fewer steps only.
    if uneven or (good > least + 1 and may_be_near(nodes, degree, links, even - 1)):
        drawn = drawn_for(wanted, nodes, degree, links)[:1]
        found = _with(found, drawn, nodes, degree, labels=uneven)
    return found


def _with(
    found: tuple[Candidate, ...], some: Sequence[Recipe], nodes: int, degree: int, *, labels: bool
) -> tuple[Candidate, ...]:
    """Return undominated candidates, with the broadcast and slack costs of further graphs."""
    # A graph that broadcast leaves dominated may be undominated with a slack schedule.
    rivals = () if labels else found
    made = undominated(one for recipe in some for one in measured_unless_dominated(recipe, rivals))
    many = limits.LARGE_SLACK_GRAPHS if nodes**2 <= MAX_SEARCHED else limits.HUGE_SLACK_GRAPHS
    chosen = [one.recipe for one in made[:many] if labels]
    most = optimal_within(found, nodes) - 1
    slack = labelled((), chosen, nodes, degree, limits.MAX_LARGE_CELLS, most)
    return undominated([*found, *made, *slack])


def _least_steps(found: Iterable[Candidate], nodes: int, ratio: Fraction) -> int:
    """Return the fewest steps in which the bandwidth bound is reached up to a ratio."""
    most = optimal_bandwidth(nodes) * ratio
    near = (one.steps for one in found if one.bandwidth <= most)
    return min(near, default=MAX_STEPS)
