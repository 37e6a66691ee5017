"""Pages of a work order: the moves of one person in one stage, with times and hosts to drain."""

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction
from itertools import groupby

from topoloom.synth.wiring.devices.graphs import owner
from topoloom.synth.wiring.ilp.objective import drained_hosts, panel_seconds
from topoloom.synth.wiring.plans.panel_actions import Script
from topoloom.synth.wiring.plans.work_order import Task, natural, tasks
from topoloom.synth.wiring.plant import Kind, Pair


@dataclass(frozen=True, slots=True)
class Page:
    """The moves of one person in one stage.

    ``person`` is the place, or the panel where the plant states no place.  ``drained`` are hosts
    that lose light by the removals of the page.  ``seconds`` is the time of the moves, one panel
    after another; 0 if the plant states no times.
    """

    stage: int
    person: str
    tasks: tuple[Task, ...]
    drained: tuple[str, ...]
    seconds: Fraction

    @property
    def removes(self) -> int:
        """Pairs to pull."""
        return sum(not task.adds for task in self.tasks)

    @property
    def by_panel(self) -> list[tuple[int, tuple[Task, ...]]]:
        """The tasks of each panel, in walking order."""
        return [
            (panel, tuple(group))
            for panel, group in groupby(self.tasks, lambda task: task.pair.panel)
        ]


def pages(script: Script) -> tuple[Page, ...]:
    """Return the pages of a plan in walking order.

    Panels of one place share a page; switches and robots, which commands set, have their own.
    """
    plugged = set(script.base.pairs)
    found: list[Page] = []
    numbered = tasks(script.plant, [(step.removes, step.adds) for step in script.steps])
    for stage, group in groupby(numbered, lambda task: task.stage):
        of_stage = list(group)
        for person, own in groupby(of_stage, lambda task: _person(script, task.pair)):
            found.append(_page(script, stage, person, tuple(own), plugged))
        plugged -= set(script.steps[stage - 1].removes)
        plugged |= set(script.steps[stage - 1].adds)
    return tuple(found)


def _person(script: Script, pair: Pair) -> str:
    panel = script.plant.panels[pair.panel]
    return panel.place if panel.place and panel.kind is Kind.MANUAL else panel.id


def _page(
    script: Script, stage: int, person: str, own: tuple[Task, ...], plugged: Iterable[Pair]
) -> Page:
    gone = [task.pair for task in own if not task.adds]
    counts = Counter((task.pair.panel, task.adds) for task in own)
    times = (panel_seconds(script.plant, panel, n) for (panel, _), n in counts.items())
    hosts = drained_hosts(script.plant, gone, plugged)
    names = sorted((host_name(script, host) for host in hosts), key=natural)
    return Page(stage, person, own, tuple(names), sum(times, Fraction(0)))


def host_name(script: Script, host: int) -> str:
    """Return the node on a host, or the name of a host without a node."""
    ports = [end for port in script.plant.folded.hosts[host].ports for end in port.fibres]
    known = (port for port in ports if port in script.peers)
    return owner(script, next(known, ports[0])) if ports else script.plant.hosts[host].id


def minutes(seconds: Fraction) -> str:
    """Return a time in whole minutes, rounded up, as text.

    >>> minutes(Fraction(61)), minutes(Fraction(0))
    ('2 min', 'not stated by the plant')
    """
    return f"{-(-seconds // 60)} min" if seconds else "not stated by the plant"
