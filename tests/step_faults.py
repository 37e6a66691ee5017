"""Ways to break steps: (schedule, pick) -> schedule; ``pick(n)`` gives an index below n."""

from dataclasses import replace

import numpy as np

from topoloom.schedules.model.schedule import Collective


def _edit(schedule, change):
    steps = [step.copy() for step in schedule.steps]
    return replace(schedule, steps=tuple(change(steps)))


def _place(steps, pick):
    step = pick(len(steps))
    return step, pick(len(steps[step]))


def _field(name, values):
    def fault(schedule, pick):
        def change(steps):
            step, send = _place(steps, pick)
            options = values(schedule)
            steps[step][send][name] = options[pick(len(options))]
            return steps

        return _edit(schedule, change)

    return fault


def dropped(schedule, pick):
    def change(steps):
        step, send = _place(steps, pick)
        steps[step] = np.delete(steps[step], send)
        return steps

    return _edit(schedule, change)


def duplicated(schedule, pick):
    def change(steps):
        step, send = _place(steps, pick)
        other = pick(len(steps))
        steps[other] = np.append(steps[other], steps[step][send])
        return steps

    return _edit(schedule, change)


def moved_to_another_step(schedule, pick):
    def change(steps):
        step, send = _place(steps, pick)
        row = steps[step][[send]]
        steps[step] = np.delete(steps[step], send)
        other = pick(len(steps))
        steps[other] = np.append(steps[other], row)
        return steps

    return _edit(schedule, change)


def turned_round(schedule, pick):
    def change(steps):
        step, send = _place(steps, pick)
        row = steps[step][send]
        row["source"], row["target"] = int(row["target"]), int(row["source"])
        return steps

    return _edit(schedule, change)


def exchanged(name):
    def fault(schedule, pick):
        def change(steps):
            one, other = _place(steps, pick), _place(steps, pick)
            a, b = steps[one[0]][one[1]], steps[other[0]][other[1]]
            a[name], b[name] = int(b[name]), int(a[name])
            return steps

        return _edit(schedule, change)

    return fault


def reordered_within_a_step(schedule, pick):
    """Harmless: the sends of a step have no order."""

    def change(steps):
        step = pick(len(steps))
        steps[step] = steps[step][::-1]
        return steps

    return _edit(schedule, change)


def steps_exchanged(schedule, pick):
    def change(steps):
        one, other = pick(len(steps)), pick(len(steps))
        steps[one], steps[other] = steps[other], steps[one]
        return steps

    return _edit(schedule, change)


def two_steps_at_once(schedule, pick):
    def change(steps):
        step = pick(len(steps))
        if step + 1 < len(steps):
            steps[step : step + 2] = [np.concatenate(steps[step : step + 2])]
        return steps

    return _edit(schedule, change)


def an_empty_step_more(schedule, pick):
    """Harmless for the data; it costs a step."""

    def change(steps):
        steps.insert(pick(len(steps) + 1), steps[0][:0])
        return steps

    return _edit(schedule, change)


def cut_in_two(schedule, pick):
    """Harmless if the send has several chunks."""

    def change(steps):
        step, send = _place(steps, pick)
        count = int(steps[step][send]["count"])
        rest = steps[step][[send]]
        steps[step][send]["count"] = count // 2
        rest["first"] += count // 2
        rest["count"] -= count // 2
        steps[step] = np.append(steps[step], rest)
        return steps

    return _edit(schedule, change)


def cut_finer(schedule, pick):
    return replace(schedule, chunks_per_shard=schedule.chunks_per_shard + 1 + pick(3))


def cut_coarser(schedule, pick):
    return replace(schedule, chunks_per_shard=schedule.chunks_per_shard - 1)


def of_the_other_collective(schedule, pick):
    others = [
        each for each in Collective if each not in (schedule.collective, Collective.ALLREDUCE)
    ]
    return replace(schedule, collective=others[pick(len(others))])


def ranks_exchanged(schedule, pick):
    ranks = list(schedule.ranks)
    one, other = pick(len(ranks)), pick(len(ranks))
    ranks[one], ranks[other] = ranks[other], ranks[one]
    return replace(schedule, ranks=tuple(ranks))


def _ranks(schedule):
    return range(-1, len(schedule.ranks) + 1)


STEP_FAULTS = {
    "dropped": dropped,
    "duplicated": duplicated,
    "moved to another step": moved_to_another_step,
    "turned round": turned_round,
    "from another source": _field("source", _ranks),
    "misrouted": _field("target", _ranks),
    "of another shard": _field("shard", _ranks),
    "other chunks": _field("first", lambda s: range(-1, s.chunks_per_shard + 1)),
    "more or fewer chunks": _field("count", lambda s: range(s.chunks_per_shard + 2)),
    "another link": _field("link", lambda s: range(-2, 4)),
    "another op": _field("op", lambda s: range(4)),
    "targets exchanged": exchanged("target"),
    "shards exchanged": exchanged("shard"),
    "chunks exchanged": exchanged("first"),
    "reordered within a step": reordered_within_a_step,
    "steps exchanged": steps_exchanged,
    "two steps at once": two_steps_at_once,
    "an empty step more": an_empty_step_more,
    "cut in two": cut_in_two,
    "cut finer": cut_finer,
    "cut coarser": cut_coarser,
    "other collective": of_the_other_collective,
    "ranks exchanged": ranks_exchanged,
}
