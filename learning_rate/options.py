"""Options of the tuner, their validation, and the defaults of both methods."""

import math
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

from topoloom.learning_rate.option_rules import check_groups, names_of, number, require, whole
from topoloom.learning_rate.rate_shape import ANCHORS

MAX_STEPS = 100_000_000
MAX_CANDIDATES = 64
MAX_OVERRUN = 4096  # steps in one report of offline steps
METHODS = ("topoloom", "paper")
VALIDATION = ("late", "never")
SWITCHES = ("warm_start", "look_above", "stop_rises", "range_test")
# Values of None.  The paper: tau from 1000 doubling to 8000, tau' = tau / 10, ten
# candidates, kappa 1000 (the authors' program has 1e6, which only explores).
DEFAULTS: dict[str, dict[str, Any]] = {
    "paper": {
        "warmup_steps": 0,
        "tau_min": 1000,
        "tau_max": 8000,
        "candidates": 10,
        "kappa": 1000.0,
        "validation": "late",
        "eps": 0.0,
        "anchor": "none",
        "decay_share": 0.2,
        "warm_start": False,
        "look_above": False,
        "stop_rises": False,
        "range_test": False,
        "group_ratios": (),
        "max_overhead": math.inf,
    },
    "topoloom": {
        "warmup_steps": 0.05,
        "tau_min": 0.0625,
        "tau_max": 0.25,
        "candidates": 8,
        "kappa": 2.0,
        "validation": "never",
        "eps": 0.05,
        "anchor": "wsd",
        "decay_share": 0.2,
        "warm_start": True,
        "look_above": True,
        "stop_rises": True,
        "range_test": False,
        "group_ratios": (),
        "max_overhead": 0.1,
    },
}


@dataclass(frozen=True, slots=True)
class Options:
    """Options of a run; None is the default of the method (`DEFAULTS`).

    min_lr, max_lr : float
        The interval that rates are searched in, 0 < min_lr < max_lr; with an anchor, that of
        its peak.
    total_steps : int
        Steps of the run that is kept, warm-up included; 1 to `MAX_STEPS`.
    method : str
        "topoloom" or "paper".  The fields from ``eps`` on are what the one adds to the
        other, each of which may be set alone.
    seed : int
        Same seed, same losses, same schedule.
    warmup_steps, warmup_lr
        Steps of linear warm-up, in which nothing is searched, and the rate it ends at;
        default the geometric mean of the interval.
    tau_min, tau_max : int
        Length of the first stage, and of the longest; each stage is twice the one before.
    trial_fraction : float
        tau' / tau, in (0, 1]: the length of a trial.
    side_by_side : int
        Number of candidates chosen at once, before any of them is judged.  They may run at the same
        time (``processes`` of the callback); 1: each choice uses all earlier results.
    candidates : int
        The most rates tried in a stage, 2 to `MAX_CANDIDATES`.
    kappa : float
        Weight of the uncertainty in the lower confidence bound.
    validation : str
        "late": once tau has reached tau_max candidates are judged by validation loss, 16
        evaluations each; "never": by training loss throughout.
    eps : float
        The largest rate wins whose forecast gain is at most this share below the best's.
    anchor : str
        "cosine", "wsd" or "none".  After the first stage rates are searched between half and
        twice the first stage's winner times the anchor; with "none" in the whole interval.
    decay_share : float
        Of the steps after warm-up, over which "wsd" goes to zero; in (0, 1].
    warm_start : bool
        The rate in use is the first candidate of a stage and stays unless clearly beaten; the
        Gaussian process also uses the trials of the previous stage.
    look_above : bool
        Rates are searched in trials that decay to zero, upwards from the rate that warm-up ended at
        and downwards only after a fall of the loss (`learning_rate.state_machine.decayed_trials`);
        needs a finite ``max_overhead``.  The options on trials at constant rates then do nothing:
        ``trial_fraction``, ``kappa``, ``validation`` and ``warm_start``.
    stop_rises : bool
        Where the loss of the kept branch clearly rises again
        (`learning_rate.state_machine.divergence_detector`), and not by the data
        (`learning_rate.state_machine.rate_checks`), the run goes back to before that at half the
        rate.  Warm-up ends there, or begins again to a lower rate from the first step.  Early in
        the run, training begins once more with the untrained model, at a tenth of the rate, and
        also if the loss never falls (`learning_rate.state_machine.flat_starts`).
        Steps that ``max_overhead`` does not pay for count as run.
    range_test : bool
        Before the first step, trials find the interval that is searched, three decades inside of
        ``min_lr`` to ``max_lr`` (`learning_rate.state_machine.range_trials`).  They begin at
        ``warmup_lr``, and a part of ``max_overhead`` pays for them, which must be finite.
    group_ratios : sequence of str or int
        Parameter groups whose rate relative to the others is searched, too, at most `MAX_GROUPS`
        (`learning_rate.state_machine.ratio_trials`).  A group is its ``name`` key, or its index
        among the groups of all optimizers; "optimizer-1" is all groups of the second of several
        optimizers.  Needs ``look_above``.
    max_overhead : float
        Steps that may be thrown away, as a share of total_steps, search and recovery from
        divergence together; infinite: no limit, and no recovery.
    """

    min_lr: float
    max_lr: float
    total_steps: int
    method: str = "topoloom"
    seed: int = 0
    warmup_steps: int | None = None
    warmup_lr: float | None = None
    tau_min: int | None = None
    tau_max: int | None = None
    trial_fraction: float = 0.1
    side_by_side: int = 1
    candidates: int | None = None
    kappa: float | None = None
    validation: str | None = None
    eps: float | None = None
    anchor: str | None = None
    decay_share: float | None = None
    warm_start: bool | None = None
    look_above: bool | None = None
    stop_rises: bool | None = None
    range_test: bool | None = None
    group_ratios: Sequence[str | int] | None = None
    max_overhead: float | None = None

    def settled(self) -> "Settings":
        """Return every option with its value; `InvalidOptions` names the invalid field.

        >>> Options(0.001, 0.1, 10_000).settled().tau_min
        625
        >>> Options(0.001, 0.1, 10_000, method="paper").settled().kappa
        1000.0
        >>> Options(0.1, 0.001, 10_000).settled()
        Traceback (most recent call last):
        ...
        topoloom.learning_rate.errors.InvalidOptions: /min_lr: must be less than max_lr
        """
        require("method", self.method in METHODS, f"must be one of {', '.join(METHODS)}")
        whole("total_steps", self.total_steps, 1, MAX_STEPS)
        for name in ("min_lr", "max_lr"):
            number(name, getattr(self, name), above=0.0)
        require("min_lr", self.min_lr < self.max_lr, "must be less than max_lr")
        values = asdict(self)
        for name, default in DEFAULTS[self.method].items():
            if values[name] is None:
                values[name] = _scaled(name, default, self.total_steps)
        values["group_ratios"] = names_of(values["group_ratios"])
        if values["warmup_lr"] is None:
            values["warmup_lr"] = math.sqrt(self.min_lr) * math.sqrt(self.max_lr)
        # A default tau_max never forbids a tau_min that was given, nor the other way round.
        if self.tau_max is None and isinstance(values["tau_min"], int):
            values["tau_max"] = max(values["tau_max"], values["tau_min"])
        elif self.tau_min is None and isinstance(values["tau_max"], int):
            values["tau_min"] = min(values["tau_min"], values["tau_max"])
        settings = Settings(**values)
        settings.check()
        return settings


@dataclass(frozen=True, slots=True)
class Settings:
    """`Options` with every value filled in."""

    min_lr: float
    max_lr: float
    total_steps: int
    method: str
    seed: int
    warmup_steps: int
    warmup_lr: float
    tau_min: int
    tau_max: int
    trial_fraction: float
    side_by_side: int
    candidates: int
    kappa: float
    validation: str
    eps: float
    anchor: str
    decay_share: float
    warm_start: bool
    look_above: bool
    stop_rises: bool
    range_test: bool
    group_ratios: tuple[str, ...]
    max_overhead: float

    def check(self) -> None:
        """Raise `InvalidOptions` for the first field outside its domain."""
        whole("total_steps", self.total_steps, 1, MAX_STEPS)
        whole("seed", self.seed, 0, 2**32 - 1)
        whole("warmup_steps", self.warmup_steps, 0, self.total_steps - 1)
        whole("tau_min", self.tau_min, 1, MAX_STEPS)
        whole("tau_max", self.tau_max, self.tau_min, MAX_STEPS)
        whole("candidates", self.candidates, 2, MAX_CANDIDATES)
        whole("side_by_side", self.side_by_side, 1, MAX_CANDIDATES)
        for name in ("min_lr", "max_lr", "warmup_lr", "trial_fraction", "decay_share"):
            number(name, getattr(self, name), above=0.0)
        number("kappa", self.kappa)
        number("eps", self.eps)
        require("min_lr", self.min_lr < self.max_lr, "must be less than max_lr")
        for name in ("trial_fraction", "decay_share"):
            require(name, getattr(self, name) <= 1, "must be at most 1")
        require("eps", self.eps < 1, "must be less than 1")
        require("method", self.method in METHODS, f"must be one of {', '.join(METHODS)}")
        require("anchor", self.anchor in ANCHORS, f"must be one of {', '.join(ANCHORS)}")
        require(
            "validation", self.validation in VALIDATION, f"must be one of {', '.join(VALIDATION)}"
        )
        for name in SWITCHES:
            require(name, isinstance(getattr(self, name), bool), "must be true or false")
        if self.max_overhead != math.inf:
            number("max_overhead", self.max_overhead)
        require(
            "range_test",
            not self.range_test or self.max_overhead != math.inf,
            "must be false where max_overhead is infinite",
        )
        check_groups(self.group_ratios)
        require(
            "group_ratios",
            not self.group_ratios or (self.look_above and self.max_overhead != math.inf),
            "must be empty where look_above is false, or max_overhead is infinite",
        )

    @property
    def allowance(self) -> int | None:
        """Steps that may be thrown away in all; None where there is no limit."""
        if self.max_overhead == math.inf:
            return None
        return int(self.max_overhead * self.total_steps)

    @property
    def most_steps(self) -> int | None:
        """Steps that are run at most, those thrown away included; None without limit.

        >>> Options(0.001, 0.1, 1000).settled().most_steps
        1100
        """
        return None if self.allowance is None else self.total_steps + self.allowance


def _scaled(name: str, default: Any, total_steps: int) -> Any:
    """Return a default; a fractional length is a share of the whole run."""
    if name in ("warmup_steps", "tau_min", "tau_max") and isinstance(default, float):
        return max(0 if name == "warmup_steps" else 1, int(default * total_steps))
    return default
