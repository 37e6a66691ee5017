"""Allreduce by sums of windows, as messages."""

from fractions import Fraction

from tests.baseline_runs.runs import BaselineRun
from topoloom.schedules.baselines import window_sums
from topoloom.schedules.baselines.operation import Operation
from topoloom.schedules.model.schedule import Collective
from topoloom.schedules.model.transcript import Message, Span, Transcript
from topoloom.synth.topology.topology import Topology


def window_run(nodes: int, degree: int, most: int, operation: Operation) -> BaselineRun:
    """Return the messages, with a link of d / k ports for every pair of partners."""
    partners = min(
        range(1, most + 1),
        key=lambda partners: window_sums._time("", nodes, partners, operation).seconds,
    )
    messages: list[Message] = []
    others = [0] * nodes
    brought: list[list[int]] = [[] for _ in others]
    for step in window_sums._windows(nodes, partners):
        held, needs = others[:], [tuple(known) for known in brought]
        for distance, inclusive in step:
            for target in range(nodes):
                source = (target + distance) % nodes
                mask = held[source] | (1 << source if inclusive else 0)
                brought[target].append(len(messages))
                others[target] |= mask
                messages.append(Message(source, target, (Span(0, nodes, mask),), needs[source]))
    pairs = {(message.source, message.target) for message in messages}
    width = Fraction(degree, partners)
    topology = Topology(range(nodes), [(source, target, width) for source, target in sorted(pairs)])
    transcript = Transcript(Collective.ALLREDUCE, tuple(range(nodes + 1)), tuple(messages))
    return BaselineRun(topology, transcript)
