"""Schedules on small fabrics, and ways to change single sends of them."""

from dataclasses import replace

import numpy as np

from tests.schedule_oracles import bidirectional_ring, every_schedule, two_boxes
from topoloom.synth.topology.topology import Topology

RING = bidirectional_ring(6)

BOXES = two_boxes()

DOUBLE = Topology(range(3), [(i, (i + 1) % 3) for i in range(3) for _ in range(2)])


def steps_of(name):
    return every_schedule(RING)[name]


def with_steps(schedule, steps):
    return replace(schedule, steps=tuple(steps))


def edited(schedule, step, send, **fields):
    steps = [array.copy() for array in schedule.steps]
    for field, value in fields.items():
        steps[step][send][field] = value
    return with_steps(schedule, steps)


def dropped(schedule, step, send):
    steps = list(schedule.steps)
    steps[step] = np.delete(steps[step], send)
    return with_steps(schedule, steps)


def misrouted(schedule, step, send):
    source = int(schedule.steps[step][send]["source"])
    return edited(schedule, step, send, target=(source + 3) % 6)
