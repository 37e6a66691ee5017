"""Options of learning-rate tuning: parameters of a session, of an observation, of a lease."""

from typing import Any, Literal, TypeAlias

from pydantic import StrictFloat

from topoloom.app.requests.options.factories import MANY, switch, whole
from topoloom.app.requests.options.option import REQUIRED, Option
from topoloom.learning_rate.option_rules import MAX_GROUPS
from topoloom.learning_rate.options import MAX_CANDIDATES, MAX_OVERRUN, MAX_STEPS

MethodName: TypeAlias = Literal["topoloom", "paper"]
AnchorName: TypeAlias = Literal["cosine", "wsd", "none"]
ValidationName: TypeAlias = Literal["late", "never"]
HistoryFormat: TypeAlias = Literal["json", "csv", "svg"]

_OF_METHOD = "default: set by the method"


def _rate(name: str, help: str, **more: Any) -> Option:
    return Option(name=name, type=StrictFloat, help=help, metavar="LR", **more)


def _steps(name: str, help: str, least: int, **more: Any) -> Option:
    return whole(name, help, least, MAX_STEPS, metavar="STEPS", **more)


def _number(name: str, help: str) -> Option:
    return Option(name=name, type=StrictFloat, help=f"{help}; {_OF_METHOD}", metavar="NUMBER")


def _choice(name: str, help: str) -> Option:
    """Return a flag with an opposite; without the flag, the method decides."""
    dashed = name.replace("_", "-")
    help = f"{help}, or the opposite; {_OF_METHOD}"
    return switch(name, help, None, flag=f"--{dashed}/--no-{dashed}")


NAME = Option(name="name", type=str, default="", help="name of the job", metavar="TEXT")
TUNING: tuple[Option, ...] = (
    _rate("min_lr", "smallest learning rate", default=REQUIRED),
    _rate("max_lr", "largest learning rate", default=REQUIRED),
    _steps("total_steps", "steps of the kept run, including warm-up", 1, default=REQUIRED),
    Option(
        name="method",
        type=MethodName,
        default="topoloom",
        help="topoloom: at most 10 % more steps than one run; paper: AutoLRS as published",
    ),
    whole("seed", "seed of the first candidates; method paper only", 0, 2**32 - 1, default=0),
    _steps("warmup_steps", f"steps of linear warm-up, without a search; {_OF_METHOD}", 0),
    _rate("warmup_lr", f"rate at the end of warm-up; {_OF_METHOD}"),
    _steps("tau_min", f"length of the first stage; {_OF_METHOD}", 1),
    _steps("tau_max", f"length of the longest stage; {_OF_METHOD}", 1),
    Option(
        name="trial_fraction",
        type=StrictFloat,
        default=0.1,
        help="length of a trial as a share of its stage, more than 0 and at most 1",
        metavar="SHARE",
    ),
    whole(
        "side_by_side",
        "candidates of one batch, chosen before any of their results",
        1,
        MAX_CANDIDATES,
        default=1,
    ),
    whole("candidates", f"limit of rates tried in a stage; {_OF_METHOD}", 2, MAX_CANDIDATES),
    _number("kappa", "weight of uncertainty in the search"),
    Option(
        name="validation",
        type=ValidationName,
        help=f"late: validation loss decides long stages; never: training loss always decides; "
        f"{_OF_METHOD}",
    ),
    _number("eps", "choose the largest rate within this share of the best forecast gain"),
    Option(
        name="anchor",
        type=AnchorName,
        help=f"shape of the base schedule, which candidate rates scale; {_OF_METHOD}",
    ),
    _number("decay_share", "share of the steps in which the rate decays to zero; anchor wsd only"),
    _choice("warm_start", "start each stage with the current rate and the last stage's results"),
    _choice("look_above", "search in trials that decay to zero, up from the last rate of warm-up"),
    _choice("stop_rises", "restore a checkpoint and halve the rate when the loss clearly rises"),
    _choice("range_test", "trials before the first step find the interval inside these rates"),
    Option(
        name="group_ratios",
        type=list[str],
        help="also search the rates of these parameter groups relative to the others; names, "
        "indices, or optimizer-1; default: none",
        least=0,
        most=MAX_GROUPS,
        flag="--group-ratio",
        metavar="GROUP",
        typed=MANY,
    ),
    _number("max_overhead", "limit of discarded steps, as a share of all steps; inf: no limit"),
)
"""Parameters of a session: `learning_rate.Options`."""

LEASE = Option(
    name="lease",
    type=str,
    default=REQUIRED,
    help="lease from create or attach",
    metavar="TEXT",
)
OWN_LEASE = Option(
    name="lease",
    type=str,
    help="last lease of the session; without a lease, the current lease must have expired "
    "(TOPOLOOM_LR_LEASE_SECONDS)",
    metavar="TEXT",
)
SEQUENCE = whole(
    "sequence",
    "number of the observation: 1, 2, 3, ... without gaps",
    1,
    2**31 - 1,
    default=REQUIRED,
)
LENGTH = _steps(
    "total_steps", "new number of steps of the kept run; default: the decay begins now", 1
)
TO_SEQUENCE = whole(
    "sequence", "return to the state after this observation; default: the last", 0, 2**31 - 1
)
LOSSES = Option(
    name="losses",
    type=list,
    help="after set_lr or continue: training losses of its steps; after evaluate: the validation "
    "loss; after save and restore: empty",
    least=0,
    most=MAX_OVERRUN,
    metavar="LIST",
    typed="2.31,2.29,nan",
)
UNSOLICITED = switch(
    "unsolicited", "the losses belong to additional steps at the last rate, without an action"
)
HISTORY_FORMAT = Option(
    name="format",
    type=HistoryFormat,
    default="json",
    help="json: lr-history/1; csv: one line per step; svg: a plot",
)
AFTER = whole(
    "after", "json only: start after the observation with this number", 0, 2**31 - 1, default=0
)
