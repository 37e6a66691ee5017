"""The schedules and methods that are compared, and one run of each."""

import math
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import torch

from benchmarks.learning_rate.tasks import TASKS, Task, Training
from schedules.learning_rate import InProcess, Options
from schedules.learning_rate.callbacks import ResumableBatches, TuningCallback

__all__ = ["PACKAGED", "SCHEDULES", "TUNED", "Run", "run"]

WARMUP = 0.05
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
    "Prodigy": ("prodigyopt", (0.5, 1.0, 2.0)),
}
PAPER: dict[str, Any] = {"method": "paper"}
TUNED: dict[str, dict[str, Any]] = {
    "topoloom": {},
    "topoloom, cosine": {"anchor": "cosine"},
    "topoloom, free": {"anchor": "none"},
    "paper": PAPER,
    "paper + largest rate": {**PAPER, "eps": 0.05},
    "paper + anchor": {**PAPER, "anchor": "cosine"},
    "paper + winner goes on": {**PAPER, "continue_winner": True},
    "paper + early stop": {**PAPER, "stop_hopeless": True},
    "paper + warm start": {**PAPER, "warm_start": True},
    "paper + budget": {**PAPER, "max_overhead": 0.1},
    "topoloom - largest rate": {"eps": 0.0},
    "topoloom - winner goes on": {"continue_winner": False},
    "topoloom - early stop": {"stop_hopeless": False},
    "topoloom - warm start": {"warm_start": False},
    "topoloom, low warm-up": {WARMUP_SHARE: 0.33},
}


@dataclass(frozen=True)
class Run:
    """What came out: steps and seconds in all, validation along the kept branch, and more.

    ``looks``: (steps run in all, validation loss).  ``losses``: of training, in the order
    run, kept for constant rates only, on which forecasts are tried.
    """

    final: float
    spent: int
    seconds: float
    looks: list[tuple[int, float]]
    losses: list[float]
    rates: list[float]


def run(task_name: str, method: str, rate: float, seed: int, steps: int) -> Run:
    """Train once."""
    torch.manual_seed(seed)
    task = TASKS[task_name]
    training = task.make()
    batches = ResumableBatches(training.size, task.batch_size, seed)
    torch.manual_seed(seed + 1000)
    if method in TUNED:
        return _tuned(task, training, batches, TUNED[method], seed, steps)
    return _scheduled(task, training, batches, method, rate, steps)


def _optimizer(task: Task, training: Training, method: str, rate: float, steps: int) -> Any:
    parameters = training.model.parameters()
    warmup = int(WARMUP * steps)
    if method == "Schedule-Free":
        import schedulefree

        if task.optimizer == "SGD":
            return schedulefree.SGDScheduleFree(parameters, lr=rate, warmup_steps=warmup)
        return schedulefree.AdamWScheduleFree(parameters, lr=rate, warmup_steps=warmup)
    if method == "Prodigy":
        import prodigyopt

        return prodigyopt.Prodigy(parameters, lr=1.0, d_coef=rate, weight_decay=0.01)
    if task.optimizer == "SGD":
        return torch.optim.SGD(parameters, lr=rate, momentum=0.9)
    return torch.optim.AdamW(parameters, lr=rate, weight_decay=0.01)


def _scheduled(
    task: Task, training: Training, batches: ResumableBatches, method: str, rate: float, steps: int
) -> Run:
    optimizer = _optimizer(task, training, method, rate, steps)
    factor = SCHEDULES.get(method)
    if method == "Prodigy":
        factor = SCHEDULES["cosine"]  # its authors advise cosine annealing
    warmup = 0 if method in ("one-cycle", *PACKAGED) else int(WARMUP * steps)
    begin, looking = time.perf_counter(), 0.0
    looks: list[tuple[int, float]] = []
    losses: list[float] = []
    base = [group["lr"] for group in optimizer.param_groups]
    for step in range(steps):
        if factor is not None:
            progress = (step - warmup + 0.5) / (steps - warmup)
            scale = (step + 1) / warmup if step < warmup else factor(progress)
            for group, lr in zip(optimizer.param_groups, base, strict=True):
                group["lr"] = lr * scale
        if method == "Schedule-Free":
            optimizer.train()
        losses.append(_one_step(training, optimizer, next(batches)))
        if (step + 1) % max(1, steps // LOOKS) == 0:
            start = time.perf_counter()
            if method == "Schedule-Free":
                optimizer.eval()
            looks.append((step + 1, training.validate()))
            looking += time.perf_counter() - start
    seconds = time.perf_counter() - begin - looking
    kept = losses if method == "constant" else losses[-1:]
    return Run(looks[-1][1], steps, seconds, looks, kept, [rate])


def _one_step(training: Training, optimizer: Any, batch: list[int]) -> float:
    loss = training.loss(batch)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    return loss.item()


def _tuned(
    task: Task, training: Training, batches: ResumableBatches, asked: dict[str, Any], seed: int,
    steps: int,
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
    optimizer = _optimizer(task, training, "", 1e-3, steps)
    callback = TuningCallback(
        tuner, training.model, optimizer, data=batches, evaluate=training.validate
    )
    begin, looking = time.perf_counter(), 0.0
    looks: list[tuple[int, float]] = []
    while callback.running:
        trying = tuner.state.phase == "trial"
        callback.step(_one_step(training, optimizer, next(batches)))
        step = tuner.state.step
        if not trying and step >= (len(looks) + 1) * max(1, steps // LOOKS):
            start = time.perf_counter()
            looks.append((tuner.state.spent, training.validate()))
            looking += time.perf_counter() - start
    seconds = time.perf_counter() - begin - looking
    final = training.validate() if tuner.action.reason == "finished" else math.nan
    rates = [stage.rate for stage in tuner.state.history]
    return Run(final, tuner.state.spent, seconds, looks, [], rates)
