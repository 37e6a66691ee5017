"""How far below the best rate of short trials the best rate of a run is, on the development tasks.

    python -m benchmarks.learning_rate.discounts --steps 1000 --seeds 5 --processes 16

Each task warms up to the middle of its interval.  From there the trials of the tuner run at each
rung of its ladder, and WSD runs to its end at half rungs.  Beside them, WSD and cosine run at the
rate of the least training loss among five that share a tenth of the steps.  For each discount the
table has the final validation loss at the rate that the trials and the discount lead to, where need
be between those of two rates that were run, in the logarithms of both.  Three more rows have the
tuner itself, which also searches later and watches for rises, the rate whose whole run ends with
the least training loss, the most that trials can find, and the rate of the least validation loss.

With ``--validation`` the trials and those before the probed runs are judged by the validation loss
at their end instead, and the walk goes up as long as that is lower.
"""

import copy
import math
import statistics
from dataclasses import dataclass, replace
from itertools import product
from multiprocessing import Pool

import torch

from benchmarks.learning_rate.arguments import parser_of
from benchmarks.learning_rate.development_tasks import DEVELOPMENT
from benchmarks.learning_rate.methods import (
    SCHEDULES,
    WARMUP,
    begun,
    optimizer_of,
    probed,
    stepped,
    tuned,
)
from topoloom.learning_rate.options import Options
from topoloom.learning_rate.state_machine.decayed_trials import (
    STEP,
    TRIAL_SHARE,
    Rungs,
    highest_clear_rung,
    least,
    with_end_loss,
)
from topoloom.learning_rate.state_machine.state import Attempt

DISCOUNTS = (0.0, 0.25, 0.5, 0.75, 1.0)  # rungs
FINALS = (-1.0, 0.0, 0.5, 1.0, 1.5, 2.0, 2.5, 3.0, 4.0)  # rungs
MOST = 1.0  # of a difference of logarithms, that a run which fails counts as
TRIALS = 5  # that the budget pays for
END = 1 / 40  # of the steps, whose mean is the training loss at the end


@dataclass(frozen=True)
class Measured:
    """The trials of a task by their rungs, and final losses in logarithms: by rung, of others.

    ``ends`` has the training losses at the end; ``tuned`` is the final loss of the tuner itself.
    """

    task: str
    rungs: Rungs
    finals: dict[float, float]
    ends: dict[float, float]
    probed: list[float]
    tuned: float


def measured(key: tuple[str, int, int, bool]) -> Measured:
    """Run a task with a seed: trials, judged by validation or not, whole runs, probed runs."""
    name, seed, steps, validated = key
    torch.set_num_threads(1)
    task, warmup = DEVELOPMENT[name], int(WARMUP * steps)
    low, high = task.interval
    middle, settings = math.sqrt(low * high), Options(low, high, steps).settled()
    training, batches = begun(task, seed)
    optimizer = optimizer_of(task, training, "", middle, steps)

    def step(rate: float) -> float:
        for group in optimizer.param_groups:
            group["lr"] = rate
        return stepped(training, optimizer, next(batches))

    for place in range(warmup):
        step(middle * (place + 1) / warmup)
    parts = training.model, optimizer, batches
    saved = copy.deepcopy([part.state_dict() for part in parts]), torch.get_rng_state()

    def back() -> None:
        for part, state in zip(parts, copy.deepcopy(saved[0]), strict=True):
            part.load_state_dict(state)
        torch.set_rng_state(saved[1])

    length, top = int(TRIAL_SHARE * (settings.allowance or 0)), math.log(high / middle, STEP) + 1e-6
    rungs: Rungs = {}
    for rung in (one for one in range(5) if one <= top):
        back()
        falls = [1 - (place + 0.5) / length for place in range(length)]
        losses = tuple(step(middle * STEP**rung * fall) for fall in falls)
        rungs[rung] = with_end_loss(Attempt(middle * STEP**rung, "", "running", length, losses))
        if validated and rungs[rung].status == "finished":
            loss = training.validate()
            status = "finished" if math.isfinite(loss) else "diverged"
            rungs[rung] = replace(rungs[rung], status=status, forecast=loss, evaluations=(loss,))
    finals, ends = dict[float, float](), dict[float, float]()
    for rung in (one for one in FINALS if one <= top):
        back()
        losses = ()
        for place in range(warmup, steps):
            progress = (place - warmup + 0.5) / (steps - warmup)
            loss = step(middle * STEP**rung * SCHEDULES["WSD"](progress))
            losses = (*losses, loss)[-int(END * steps) :]
            if not math.isfinite(loss):
                break
        finals[rung] = _logarithm(training.validate())
        ends[rung] = _logarithm(statistics.fmean(losses))
    ways = ("WSD", "cosine")
    others = [probed(task, way, seed, steps, steps, validated).final for way in ways]
    mine = tuned(task, *begun(task, seed), {}, seed, steps, steps).final
    others = [_logarithm(loss) for loss in others]
    return Measured(name, rungs, finals, ends, others, _logarithm(mine))


def _logarithm(loss: float) -> float:
    return math.log(loss) if math.isfinite(loss) and loss > 0 else math.inf


def rung_of(rungs: Rungs, discount: float) -> float:
    """Return the rung that a walk up and a discount lead to; the start where it goes down."""
    paid = {rung: rungs[rung] for rung in sorted(rungs)[:TRIALS]}
    best = _validated(paid) if paid[0].evaluations else highest_clear_rung(paid)
    return max(0.0, least(paid, best) - discount) if best > 0 else 0.0


def _validated(rungs: Rungs) -> int:
    """Return the last rung of a walk up from 0 on which each validation loss is lower."""
    losses = {rung: one.forecast for rung, one in rungs.items() if one.status == "finished"}
    rung = 0
    while (losses.get(rung + 1) or math.inf) < (losses.get(rung) or math.inf):
        rung += 1
    return rung


def between(finals: dict[float, float], rung: float) -> float:
    """Return the final loss at a rung, from those of the rungs around it."""
    below = max(one for one in finals if one <= rung)
    above = min((one for one in finals if one >= rung), default=below)
    if below == above or not math.isfinite(finals[below] + finals[above]):
        return finals[above]
    share = (rung - below) / (above - below)
    return (1 - share) * finals[below] + share * finals[above]


def table(runs: list[Measured]) -> str:
    """Return, for each discount, how the chosen rates end beside the others."""
    lines = [
        "| discount | lower than probed | log to probed | log to the start | log to the best |"
    ]
    lines.append("|---" * 5 + "|")
    for discount in DISCOUNTS:
        chosen = [between(one.finals, rung_of(one.rungs, discount)) for one in runs]
        lines.append(_row(f"{discount:g}", runs, chosen))
    lines.append(_row("topoloom", runs, [one.tuned for one in runs]))
    least = [one.finals[min(one.ends, key=lambda rung: one.ends[rung])] for one in runs]
    lines.append(_row("least training loss", runs, least))
    lines.append(_row("best rate", runs, [min(one.finals.values()) for one in runs]))
    return "\n".join(lines)


def _row(name: str, runs: list[Measured], chosen: list[float]) -> str:
    """Return how runs that end at the chosen losses compare with the others."""
    ends = list(zip(runs, chosen, strict=True))
    pairs = [(mine, other) for one, mine in ends for other in one.probed]
    won = sum(mine < other for mine, other in pairs)
    gaps = [
        [_gap(mine, other) for mine, other in pairs],
        [_gap(mine, one.finals[0.0]) for one, mine in ends],
        [_gap(mine, min(one.finals.values())) for one, mine in ends],
    ]
    told = " | ".join(f"{statistics.fmean(one):+.3f}" for one in gaps)
    return f"| {name} | {won} of {len(pairs)} | {told} |"


def _gap(mine: float, other: float) -> float:
    if mine == other:
        return 0.0
    return max(-MOST, min(MOST, mine - other))


def main() -> None:
    parser = parser_of(__doc__, "--tasks", DEVELOPMENT, 5)
    parser.add_argument("--validation", action="store_true", help="judge by validation losses")
    arguments = parser.parse_args()
    seeds, names = range(100, 100 + arguments.seeds), list[str](arguments.tasks)
    steps, validated = int(arguments.steps), bool(arguments.validation)
    keys = [(name, seed, steps, validated) for seed, name in product(seeds, names)]
    with Pool(arguments.processes) as pool:
        print(table(pool.map(measured, keys, chunksize=1)))


if __name__ == "__main__":
    main()
