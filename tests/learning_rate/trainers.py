"""A trainer without a network: losses that depend on rates, with checkpoints, for tests."""

import json
import math
import random
from dataclasses import replace

from topoloom.learning_rate import Options, State, observe, start
from topoloom.learning_rate.state_machine.state import UNTRAINED

PAPER = {"method": "paper", "tau_min": 40, "tau_max": 80, "candidates": 3}
NOISE = 0.05


class Toy:
    """A loss that falls the faster the larger the rate is, up to a rate at which it explodes.

    Noise depends on the position in the data alone, as batches do.
    """

    def __init__(self, limit=0.05, bad_steps=(), poisoned=None):
        self.limit, self.bad_steps, self.poisoned = limit, frozenset(bad_steps), poisoned
        self.level, self.position, self.lr = 2.3, 0, None
        self.slots, self.run, self.actions = {}, 0, []

    def one_step(self):
        noise = random.Random(self.position).gauss(0, NOISE)
        loss = math.nan if self.run in self.bad_steps else self.level + noise
        if self.lr > self.limit:
            self.level *= 1.5
        else:
            self.level = 0.3 + (self.level - 0.3) * math.exp(-0.3 * self.lr)
        if self.run == self.poisoned:
            self.level = math.nan  # until a checkpoint is restored
        self.position += 1
        self.run += 1
        return loss if math.isnan(loss) else min(loss, 1e300)

    def carry_out(self, action):
        """Do what is asked and return what is to be reported."""
        self.actions.append(action)
        if action.do == "evaluate":
            return [self.level]
        if action.do == "save":
            self.slots[action.slot] = (self.level, self.position)
        elif action.do == "restore":
            self.level, self.position = self.slots[action.slot]
        if action.do in ("save", "restore"):
            self.slots = {slot: self.slots[slot] for slot in action.keep if slot in self.slots}
            return []
        if action.do == "set_lr":
            self.lr = action.lr
        assert self.lr == action.lr, "a rate that changes is set"
        return [self.one_step() for _ in range(action.steps)]


class Groups(Toy):
    """Two parts of the loss, each of which falls with the rate of its group, up to a limit.

    Noise depends on the position in the data, or with ``own`` on every step that is run.
    """

    def __init__(self, limits=(0.05, 0.05), noise=0.05, own=False, seed=0, **more):
        super().__init__(**more)
        self.limits, self.noise, self.own, self.seed = limits, noise, own, seed
        self.level, self.scales, self.speed = (1.0, 1.0), (), 0.3

    def carry_out(self, action):
        if action.do == "set_lr":
            self.scales = (*action.scales, 1.0)[:2]  # a group without a name has none
        if action.do in ("set_lr", "go_on"):
            assert self.scales == (*action.scales, 1.0)[:2], "scales that change are set"
        return super().carry_out(action)

    def one_step(self):
        place = self.run if self.own else self.position
        noise = random.Random(f"{self.seed}/{place}").gauss(0, self.noise)
        loss = math.nan if self.run in self.bad_steps else 0.3 + sum(self.level) + noise
        rates = [self.lr * scale for scale in self.scales]
        self.level = tuple(
            level * (1.5 if rate > limit else math.exp(-self.speed * rate))
            for level, rate, limit in zip(self.level, rates, self.limits, strict=True)
        )
        if self.run == self.poisoned:
            self.level = (math.nan, math.nan)  # until a checkpoint is restored
        self.position += 1
        self.run += 1
        return loss if math.isnan(loss) else min(loss, 1e300)


def trained(options, toy=None, between=lambda state: state, most=10**9):
    """Train to the end; ``between`` is applied to every state on the way."""
    toy = toy or Toy()
    state = between(start(options))
    while state.action.do != "stop" and len(toy.actions) < most:
        state = between(observe(state, toy.carry_out(state.action)))
    return state, toy


def require_same_from(version, asked, most, *later):
    """Check that a run ends alike whose state was once written without what came later."""
    state, toy = trained(asked)
    half, begun = trained(asked, most=most)
    document = json.loads(half.to_json())
    for name in later:
        del (document["settings"] if name in document["settings"] else document)[name]
    old = State.from_document(document | {"version": version})
    assert old == half
    while old.action.do != "stop":
        old = observe(old, begun.carry_out(old.action))
    assert begun.actions == toy.actions
    # Python 3.13 compares a NaN of two states as unequal.
    assert replace(old, version=state.version).to_json() == state.to_json()


def through_json(state):
    return State.from_json(state.to_json())


def options(way, steps=600, **more):
    """Return options of trials at constant rates, unless a way looks above."""
    return Options(1e-4, 1.0, steps, **{"candidates": 4, "look_above": False, **way, **more})


class Mortal(Toy):
    """A network whose units die at rates above ``bears``, long before its loss shows it.

    Dead units stay dead in every later checkpoint: only the untrained model has all of them.
    """

    def __init__(self, bears, from_step=0, patience=60):
        super().__init__(limit=math.inf)
        self.bears, self.from_step, self.patience = bears, from_step, patience
        self.level = 2.3, 0  # what the living units leave, and steps at rates too high

    def one_step(self):
        (left, suffered), rate = self.level, self.lr
        hurt = min(1.0, max(0.0, suffered / self.patience - 1.0))
        self.level = left
        loss = super().one_step()
        suffers = rate > self.bears and self.run > self.from_step
        self.level = self.level, suffered + suffers
        return loss + hurt * (2.3 - left)

    @property
    def alive(self):
        return self.level[1] < self.patience


def returns(toy):
    """Return how often the untrained model was restored."""
    return sum(a.do == "restore" and a.slot == UNTRAINED for a in toy.actions)
