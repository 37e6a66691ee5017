"""The options of tuning a learning rate: what a session is asked for, and what it is told."""

from typing import Any, Literal, TypeAlias

from pydantic import StrictBool, StrictFloat, StrictInt

from topoloom.app.requests.options.option import REQUIRED, Option
from topoloom.learning_rate.options import MAX_CANDIDATES, MAX_OVERRUN, MAX_STEPS

__all__ = [
    "AFTER",
    "HISTORY_FORMAT",
    "LEASE",
    "LOSSES",
    "NAME",
    "OWN_LEASE",
    "SEQUENCE",
    "TO_SEQUENCE",
    "TUNING",
    "UNASKED",
    "AnchorName",
    "HistoryFormat",
    "MethodName",
    "ValidationName",
]

MethodName: TypeAlias = Literal["topoloom", "paper"]
AnchorName: TypeAlias = Literal["cosine", "wsd", "none"]
ValidationName: TypeAlias = Literal["late", "never"]
HistoryFormat: TypeAlias = Literal["json", "csv", "svg"]

_OF_METHOD = "default: that of the method"


def _rate(name: str, help: str, **more: Any) -> Option:
    return Option(name=name, type=StrictFloat, help=help, metavar="LR", **more)


def _steps(name: str, help: str, least: int, **more: Any) -> Option:
    return Option(
        name=name, type=StrictInt, help=help, least=least, most=MAX_STEPS, metavar="STEPS", **more
    )


def _number(name: str, help: str) -> Option:
    return Option(name=name, type=StrictFloat, help=f"{help}; {_OF_METHOD}", metavar="NUMBER")


def _choice(name: str, help: str) -> Option:
    """Return a flag with its opposite: left out, the method decides."""
    dashed = name.replace("_", "-")
    help = f"{help}, or the opposite; {_OF_METHOD}"
    return Option(name=name, type=StrictBool, help=help, flag=f"--{dashed}/--no-{dashed}")


NAME = Option(name="name", type=str, default="", help="what people call the job", metavar="TEXT")
TUNING: tuple[Option, ...] = (
    _rate("min_lr", "least rate that is searched", default=REQUIRED),
    _rate("max_lr", "largest rate that is searched", default=REQUIRED),
    _steps("total_steps", "steps of the run that is kept, warm-up included", 1, default=REQUIRED),
    Option(
        name="method",
        type=MethodName,
        default="topoloom",
        help="topoloom: at most a tenth more steps than one run; paper: AutoLRS as published",
    ),
    Option(
        name="seed",
        type=StrictInt,
        default=0,
        help="seed of the first candidates of the paper's method",
        least=0,
        most=2**32 - 1,
    ),
    _steps("warmup_steps", f"steps of linear warm-up, not searched; {_OF_METHOD}", 0),
    _rate("warmup_lr", "rate at which warm-up ends; default: that of the method"),
    _steps("tau_min", f"length of the first stage; {_OF_METHOD}", 1),
    _steps("tau_max", f"length of the longest stage; {_OF_METHOD}", 1),
    Option(
        name="trial_fraction",
        type=StrictFloat,
        default=0.1,
        help="length of a trial as a share of its stage, more than 0 and at most 1",
        metavar="SHARE",
    ),
    Option(
        name="side_by_side",
        type=StrictInt,
        default=1,
        help="candidates chosen at once, before any of them is judged",
        least=1,
        most=MAX_CANDIDATES,
    ),
    Option(
        name="candidates",
        type=StrictInt,
        help=f"most rates tried in a stage; {_OF_METHOD}",
        least=2,
        most=MAX_CANDIDATES,
    ),
    _number("kappa", "weight of uncertainty in the search"),
    Option(
        name="validation",
        type=ValidationName,
        help=f"late: long stages are judged by validation loss; never: none is; {_OF_METHOD}",
    ),
    _number("eps", "the largest rate wins within this share of the best forecast gain"),
    Option(
        name="anchor",
        type=AnchorName,
        help=f"shape of the schedule that all rates are multiples of; {_OF_METHOD}",
    ),
    _number(
        "decay_share", "of the anchor wsd: share of the steps over which the rate falls to zero"
    ),
    _choice("continue_winner", "go on from the winner's trial, not from the checkpoint"),
    _choice("stop_hopeless", "give up candidates that are clearly behind"),
    _choice("warm_start", "begin with the rate in use and with the results of the stage before"),
    _choice("hold_rate", "keep the last rate of warm-up unless a smaller one is clearly better"),
    _choice("look_above", "first try a rate above the last one of warm-up, falling to zero"),
    _choice("stop_rises", "go back, at half the rate, when the loss clearly rises"),
    _number("max_overhead", "most discarded steps, as a share of all steps; inf: no limit"),
)
"""What a session is asked for: `learning_rate.Options`."""

LEASE = Option(
    name="lease",
    type=str,
    default=REQUIRED,
    help="lease that create or attach printed",
    metavar="TEXT",
)
OWN_LEASE = Option(
    name="lease",
    type=str,
    help="the session's last lease; without it, the session must have been silent for a while "
    "(TOPOLOOM_LR_LEASE_SECONDS)",
    metavar="TEXT",
)
SEQUENCE = Option(
    name="sequence",
    type=StrictInt,
    default=REQUIRED,
    help="number of the observation, from 1 without gaps",
    least=1,
    most=2**31 - 1,
)
TO_SEQUENCE = Option(
    name="sequence",
    type=StrictInt,
    help="go back to what was known after this observation; default: the last",
    least=0,
    most=2**31 - 1,
)
LOSSES = Option(
    name="losses",
    type=list,
    help="training losses of the steps of set_lr or go_on, the validation loss of evaluate, "
    "nothing after save and restore",
    least=0,
    most=MAX_OVERRUN,
    metavar="LIST",
    typed="2.31,2.29,nan",
)
UNASKED = Option(
    name="unasked",
    type=StrictBool,
    default=False,
    help="the losses come from more steps at the last rate, which no action asked for",
)
HISTORY_FORMAT = Option(
    name="format",
    type=HistoryFormat,
    default="json",
    help="json is lr-history/1, csv one line a step, svg a picture",
)
AFTER = Option(
    name="after",
    type=StrictInt,
    default=0,
    help="json only: observations after this number",
    least=0,
    most=2**31 - 1,
)
