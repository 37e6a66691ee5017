"""A patch plan: pairs to remove, pairs to add, and a bound on the moves.

A *move* is one removed pair or one added pair, so reconnecting a port counts two.  Let P be
today's pairs that touch a host of the topology, T the pairs of its links, and k the pairs that
stay.  The plan has |P| - k removes and |T| - k adds, so fewest moves means most pairs kept.
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property

from topoloom.synth.topology.notebook import html_table
from topoloom.synth.topology.topology import Topology
from topoloom.synth.wiring.ilp.objective import Goal, Objective, worth
from topoloom.synth.wiring.ilp.objective_rows import Stakes, at_least
from topoloom.synth.wiring.plans.spare_port import SparePort
from topoloom.synth.wiring.plant import Pair, Plant, Present
from topoloom.synth.wiring.plant.free_ports import ours
from topoloom.synth.wiring.routes.link_wiring import Wiring


@dataclass(frozen=True, eq=False)
class PatchPlan:
    """The pairs to remove and the pairs to add.

    ``plant`` has the wiring of today.  No wiring of the topology on this plant, with the same
    freedom, needs fewer moves than ``lower_bound``.  ``goal`` holds the value and the
    bound of another objective, if any.
    ``with_spare_port`` holds the moves if every host had one more port, where that saves moves.
    """

    topology: Topology
    plant: Plant
    wiring: Wiring
    lower_bound: int
    goal: Goal | None = None
    with_spare_port: SparePort | None = None

    @property
    def present(self) -> Present:
        """The wiring of today."""
        return self.plant.present

    @cached_property
    def removes(self) -> tuple[Pair, ...]:
        """Pairs of today that must go, sorted."""
        target = set(self.wiring.pairs)
        return tuple(p for p in ours(self.plant, self.wiring.hosts) if p not in target)

    @cached_property
    def adds(self) -> tuple[Pair, ...]:
        """Pairs that are missing today, sorted."""
        return tuple(sorted(set(self.wiring.pairs) - set(self.present.pairs)))

    @cached_property
    def kept(self) -> int:
        """Links of the topology that stay on the pairs they have."""
        new = set(self.adds)
        return sum(new.isdisjoint(route) for route in self.wiring.routes)

    @property
    def moves(self) -> int:
        """Removes and adds together."""
        return len(self.removes) + len(self.adds)

    @property
    def optimal(self) -> bool:
        """Whether no wiring is known to need fewer moves: the plan meets its bound."""
        return self.moves == self.lower_bound

    @cached_property
    def final(self) -> Present:
        """The wiring after the plan, pairs of other hosts included."""
        gone = set(self.removes)
        left = [pair for pair in self.present.pairs if pair not in gone]
        return Present.of([*left, *self.adds], self.present.foreign)

    def _repr_html_(self) -> str:
        """Return the first moves as a table for notebooks."""
        moves = [("pull", pair) for pair in self.removes] + [("plug", pair) for pair in self.adds]
        rows = (
            (action, self.plant.panels[pair.panel].id, *map(self.plant.port_name, ends))
            for action, pair in moves
            for ends in [self.plant.ends(pair)]
        )
        best = "the fewest" if self.optimal else f"at least {self.lower_bound} are needed"
        caption = f"{self.moves} moves ({best}); {self.kept} links stay"
        return html_table(caption, ("action", "panel", "port", "port"), rows)


def towards(objective: Objective, bound: Fraction, plans: Sequence[PatchPlan]) -> PatchPlan:
    """Return the plan with the least value of an objective, with this bound of the value.

    The first plan is the one with the fewest moves.
    """
    worths = [worth(objective, plan.plant, plan.removes, plan.adds) for plan in plans]
    value, _, number = min(
        (value, plan.moves, number)
        for number, (plan, value) in enumerate(zip(plans, worths, strict=True))
    )
    return replace(
        plans[number],
        lower_bound=plans[0].lower_bound,
        goal=Goal(objective, value, bound),
    )


def bound_on_any(
    objective: Objective, plant: Plant, mine: Sequence[Pair], removes: int, adds: int
) -> Fraction:
    """Return a lower bound of the objective for given minimum numbers of removes and adds."""
    stakes = Stakes(objective, plant, Counter(pair.panel for pair in mine), frozenset())
    room = {
        number: len(panel.a) // 2 if panel.one_sided else min(len(panel.a), len(panel.b))
        for number, panel in enumerate(plant.panels)
    }
    at_hosts = Counter(host for pair in mine for host in set(plant.hosts_of(pair)) - {-1})
    return at_least(stakes, removes, adds, room, list(at_hosts.values()))
