"""The compared schedules and methods, and one run of each."""

import math
import statistics
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Any

import torch

from benchmarks.learning_rate.tasks import TASKS, Task, Training
from benchmarks.learning_rate.unseen_tasks import UNSEEN
from topoloom.learning_rate import InProcess, LearningRateError, Options
from topoloom.learning_rate.callbacks import ResumableBatches, TuningCallback

WARMUP = 0.05
PROBE = 0.1  # of a run's steps, which all rates together are tried for before a "probed" run
WARMUP_SHARE = "warmup_share"  # of the interval's logarithm, where warm-up ends
LOOKS = 40  # validations along a run


def _step(progress: float) -> float:
    return 1.0 if progress < 0.5 else 0.1 if progress < 0.75 else 0.01


def _one_cycle(progress: float) -> float:
    """Return a cosine from 1/25 up to 1 at 30 % and down to 1e-4 / 25, as PyTorch's default."""
    low, end = 1 / 25, 1e-4 / 25
    if progress < 0.3:
        return low + (1 - low) * (1 - math.cos(math.pi * progress / 0.3)) / 2
    return end + (1 - end) * (1 + math.cos(math.pi * (progress - 0.3) / 0.7)) / 2


SCHEDULES: dict[str, Callable[[float], float]] = {
    "constant": lambda progress: 1.0,
    "step": _step,
    "cosine": lambda progress: (1 + math.cos(math.pi * progress)) / 2,
    "one-cycle": _one_cycle,
    "linear": lambda progress: 1.0 - progress,
    "WSD": lambda progress: min(1.0, (1.0 - progress) / 0.2),
}
PACKAGED = {
    "Schedule-Free": ("schedulefree", (0.3, 1.0, 3.0)),
    "Prodigy": ("prodigyopt", (1.0, 0.5, 2.0)),
    "Prodigy + Schedule-Free": ("prodigyplus", (1.0, 0.5, 2.0)),
    "GreedyLR": ("transformers", (0.3, 1.0, 3.0)),
}
AVERAGED = ("Schedule-Free", "Prodigy + Schedule-Free")  # evaluated on averaged weights
FOUND = ("Prodigy", "Prodigy + Schedule-Free")  # a rate is a factor of the rate that they find
# Methods that choose their rate within the tuner's own allowance: every rate of the grid runs for
# an equal share of it, and the rate of the least training loss gets the run.
PROBED = {f"{name}, probed": name for name in (*SCHEDULES, "Schedule-Free")}
PAPER: dict[str, Any] = {"method": "paper"}
CONSTANT: dict[str, Any] = {"look_above": False}
TUNED: dict[str, dict[str, Any]] = {
    "topoloom": {},
    "topoloom, cosine": {"anchor": "cosine"},
    "topoloom, free": {"anchor": "none"},
    "topoloom, long decay": {"decay_share": 0.3},
    "paper": PAPER,
    "paper + largest rate": {**PAPER, "eps": 0.05},
    "paper + anchor": {**PAPER, "anchor": "cosine"},
    "paper + warm start": {**PAPER, "warm_start": True},
    "paper + budget": {**PAPER, "max_overhead": 0.1},
    "paper + budget + rises": {**PAPER, "max_overhead": 0.1, "stop_rises": True},
    "topoloom - rises": {"stop_rises": False},
    "constant trials": CONSTANT,
    "constant trials - largest rate": {**CONSTANT, "eps": 0.0},
    "constant trials - warm start": {**CONSTANT, "warm_start": False},
    "topoloom, low warm-up": {WARMUP_SHARE: 0.33},
}


@dataclass(frozen=True)
class Run:
    """Result of a run: total steps and seconds, validation along the kept branch, and more.

    ``looks``: (total steps run, validation loss, seconds of training so far).  ``losses``: of
    training, in the order run, kept only for constant rates, which the forecasts use.  Seconds are
    processor seconds, which other processes on the machine do not lengthen.
    """

    final: float
    spent: int
    seconds: float
    looks: list[tuple[int, float, float]]
    losses: list[float]
    rates: list[float]


def run(task_name: str, method: str, rate: float, seed: int, steps: int) -> Run:
    """Train once; an unseen task is validated at the end alone."""
    task = (TASKS | UNSEEN)[task_name]
    every = max(1, steps // LOOKS) if task_name in TASKS else steps
    if method in PROBED:
        return probed(task, PROBED[method], seed, steps, every)
    training, batches = begun(task, seed)
    if method in TUNED:
        return tuned(task, training, batches, TUNED[method], seed, steps, every)
    return scheduled(task, training, batches, method, rate, steps, every)


def begun(task: Task, seed: int) -> tuple[Training, ResumableBatches]:
    """Return the training and its batches, and seed all later random draws."""
    torch.manual_seed(seed)
    training = task.make()
    batches = ResumableBatches(training.size, task.batch_size, seed)
    torch.manual_seed(seed + 1000)
    return training, batches


def probed(
    task: Task, method: str, seed: int, steps: int, every: int, validated: bool = False
) -> Run:
    """Choose a rate by short trials, then train with it; their steps and seconds count.

    Trials are judged by their last training losses, or ``validated`` by a validation loss at the
    end, which costs as many of their steps as it lasts.
    """
    each = int(PROBE * steps) // len(task.rates)
    tried = each - evaluation_steps(task, seed) if validated else each
    begin, reached = time.process_time(), dict[float, float]()
    for rate in task.rates:
        training, batches = begun(task, seed)
        optimizer = optimizer_of(task, training, method, rate, steps)
        if method in AVERAGED:
            optimizer.train()
        losses = [stepped(training, optimizer, next(batches)) for _ in range(tried)]
        late = statistics.fmean(losses[-max(1, each // 4) :])
        if validated:
            late = training.validate()
        reached[rate] = late if math.isfinite(late) else math.inf
    spent, seconds = each * len(task.rates), time.process_time() - begin
    rate = min(reached, key=lambda one: reached[one])
    main = scheduled(task, *begun(task, seed), method, rate, steps, every)
    looks = [(step + spent, loss, second + seconds) for step, loss, second in main.looks]
    return replace(main, spent=steps + spent, seconds=main.seconds + seconds, looks=looks)


def evaluation_steps(task: Task, seed: int) -> int:
    """Return how many steps of training last as long as one evaluation, rounded up."""
    training, batches = begun(task, seed)
    optimizer = optimizer_of(task, training, "", task.interval[0], 1)
    seconds: dict[bool, list[float]] = {False: [], True: []}
    for place in range(40):
        begin, evaluates = time.process_time(), place % 2 == 1
        training.validate() if evaluates else stepped(training, optimizer, next(batches))
        seconds[evaluates].append(time.process_time() - begin)
    return math.ceil(statistics.median(seconds[True]) / statistics.median(seconds[False]))


def optimizer_of(task: Task, training: Training, method: str, rate: float, steps: int) -> Any:
    parameters = training.model.parameters()
    warmup = int(WARMUP * steps)
    if method == "Schedule-Free":
        import schedulefree

        if task.optimizer == "SGD":
            return schedulefree.SGDScheduleFree(parameters, lr=rate, warmup_steps=warmup)
        return schedulefree.AdamWScheduleFree(parameters, lr=rate, warmup_steps=warmup)
    if method == "Prodigy + Schedule-Free":
        import prodigyplus

        return prodigyplus.ProdigyPlusScheduleFree(parameters, d_coef=rate, weight_decay=0.01)
    if method == "Prodigy":
        import prodigyopt

        decay: Any = 0.01  # annotated as a whole number there
        return prodigyopt.Prodigy(parameters, lr=1.0, d_coef=rate, weight_decay=decay)
    if task.optimizer == "SGD":
        return torch.optim.SGD(parameters, lr=rate, momentum=0.9)
    return torch.optim.AdamW(parameters, lr=rate, weight_decay=0.01)


def scheduled(
    task: Task, training: Training, batches: ResumableBatches, method: str, rate: float, steps: int,
    every: int,
) -> Run:  # fmt: skip
    optimizer = optimizer_of(task, training, method, rate, steps)
    greedy = _greedy(task, optimizer) if method == "GreedyLR" else None
    factor = SCHEDULES.get(method)
    if method == "Prodigy":
        factor = SCHEDULES["cosine"]  # its authors advise cosine annealing
    warmup = 0 if method in ("one-cycle", *PACKAGED) else int(WARMUP * steps)
    begin, looking = time.process_time(), 0.0
    looks: list[tuple[int, float, float]] = []
    losses: list[float] = []
    base = [group["lr"] for group in optimizer.param_groups]
    for step in range(steps):
        if factor is not None:
            progress = (step - warmup + 0.5) / (steps - warmup)
            scale = (step + 1) / warmup if step < warmup else factor(progress)
            for group, lr in zip(optimizer.param_groups, base, strict=True):
                group["lr"] = lr * scale
        if method in AVERAGED:
            optimizer.train()
        losses.append(stepped(training, optimizer, next(batches)))
        if greedy is not None:
            greedy.step(losses[-1])
        if (step + 1) % every == 0:
            start = time.process_time()
            if method in AVERAGED:
                optimizer.eval()
            looks.append((step + 1, training.validate(), start - begin - looking))
            looking += time.process_time() - start
    seconds = time.process_time() - begin - looking
    kept = losses if method == "constant" else losses[-1:]
    return Run(looks[-1][1], steps, seconds, looks, kept, [rate])


def _greedy(task: Task, optimizer: Any) -> Any:
    """Return GreedyLR with its default options, between the ends of the task's interval."""
    from transformers.optimization import GreedyLR

    low, high = task.interval
    return GreedyLR(optimizer, min_lr=low, max_lr=high)


def stepped(training: Training, optimizer: Any, batch: list[int]) -> float:
    loss = training.loss(batch)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    return loss.item()


def tuned(
    task: Task, training: Training, batches: ResumableBatches, asked: dict[str, Any], seed: int,
    steps: int, every: int,
) -> Run:  # fmt: skip
    options: dict[str, Any] = {"min_lr": task.interval[0], "max_lr": task.interval[1]}
    if WARMUP_SHARE in asked:
        low, high = task.interval
        asked = {"warmup_lr": low * (high / low) ** asked[WARMUP_SHARE]}
    if asked.get("method") == "paper":  # its stages, as shares of a run this short
        options |= {
            "tau_min": steps // 16,
            "tau_max": steps // 4,
            "warmup_steps": int(WARMUP * steps),
        }
    tuner = InProcess(Options(**{**options, **asked, "total_steps": steps, "seed": seed}))
    optimizer = optimizer_of(task, training, "", 1e-3, steps)
    callback = TuningCallback(
        tuner, training.model, optimizer, data=batches, evaluate=training.validate
    )
    begin, looking = time.process_time(), 0.0
    looks: list[tuple[int, float, float]] = []
    while callback.running:
        trying = tuner.state.phase == "trial"
        with suppress(LearningRateError):  # a run that has diverged ends with nan
            callback.step(stepped(training, optimizer, next(batches)))
        step = tuner.state.step
        if not trying and step >= (len(looks) + 1) * every:
            start = time.process_time()
            so_far = start - begin - looking
            looks.append((tuner.state.spent, training.validate(), so_far))
            looking += time.process_time() - start
    seconds = time.process_time() - begin - looking
    final = training.validate() if tuner.action.reason == "finished" else math.nan
    rates = [stage.rate for stage in tuner.state.history]
    return Run(final, tuner.state.spent, seconds, looks, [], rates)
