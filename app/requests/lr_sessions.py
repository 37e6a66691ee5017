"""What may be asked of sessions of tuned learning rates."""

import math
from typing import Annotated, Any

from pydantic import (
    BeforeValidator,
    ConfigDict,
    Field,
    StrictBool,
    StrictFloat,
    StrictInt,
    WithJsonSchema,
)

from topoloom.app.requests.base import Request
from topoloom.app.requests.options import lr_sessions as table
from topoloom.app.requests.options.lr_sessions import AnchorName, MethodName, ValidationName
from topoloom.app.store.lr_sessions import Observation
from topoloom.learning_rate import Options

NOT_FINITE = ("nan", "inf", "-inf")
"""Numbers that JSON lacks, as the texts that stand for them."""

_FIELDS = {option.name: option for option in table.TUNING}


def _loss(value: Any) -> float:
    if isinstance(value, str) and value in NOT_FINITE:
        return float(value)
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise ValueError('must be a number, or one of the texts "nan", "inf", "-inf"')
    try:
        return float(value)
    except OverflowError:  # a whole number beyond floats
        return math.copysign(math.inf, value)


def _infinite(value: Any) -> Any:
    return math.inf if value == "inf" else value


Loss = Annotated[
    float,
    BeforeValidator(_loss),
    WithJsonSchema({"anyOf": [{"type": "number"}, {"enum": list(NOT_FINITE)}]}),
]
"""A loss; NaN and infinities are losses too."""

Share = Annotated[
    StrictFloat,
    BeforeValidator(_infinite),
    WithJsonSchema({"anyOf": [{"type": "number"}, {"const": "inf"}]}),
]


class LrSessionRequest(Request):
    """Which training job, and between which rates."""

    model_config = ConfigDict(
        extra="forbid",
        frozen=True,
        json_schema_extra={"examples": [{"min_lr": 1e-4, "max_lr": 0.1, "total_steps": 10_000}]},
    )

    name: str = table.NAME.field(max_length=80)
    min_lr: StrictFloat = _FIELDS["min_lr"].field()
    max_lr: StrictFloat = _FIELDS["max_lr"].field()
    total_steps: StrictInt = _FIELDS["total_steps"].field()
    method: MethodName = _FIELDS["method"].field()
    seed: StrictInt = _FIELDS["seed"].field()
    warmup_steps: StrictInt = _FIELDS["warmup_steps"].field()
    warmup_lr: StrictFloat = _FIELDS["warmup_lr"].field()
    tau_min: StrictInt = _FIELDS["tau_min"].field()
    tau_max: StrictInt = _FIELDS["tau_max"].field()
    trial_fraction: StrictFloat = _FIELDS["trial_fraction"].field()
    side_by_side: StrictInt = _FIELDS["side_by_side"].field()
    candidates: StrictInt = _FIELDS["candidates"].field()
    kappa: StrictFloat = _FIELDS["kappa"].field()
    validation: ValidationName = _FIELDS["validation"].field()
    eps: StrictFloat = _FIELDS["eps"].field()
    anchor: AnchorName = _FIELDS["anchor"].field()
    decay_share: StrictFloat = _FIELDS["decay_share"].field()
    continue_winner: StrictBool = _FIELDS["continue_winner"].field()
    stop_hopeless: StrictBool = _FIELDS["stop_hopeless"].field()
    warm_start: StrictBool = _FIELDS["warm_start"].field()
    hold_rate: StrictBool = _FIELDS["hold_rate"].field()
    look_above: StrictBool = _FIELDS["look_above"].field()
    stop_rises: StrictBool = _FIELDS["stop_rises"].field()
    max_overhead: Share = _FIELDS["max_overhead"].field()

    @property
    def options(self) -> Options:
        """What the tuner is asked for; it checks the rest."""
        given = {name: getattr(self, name) for name in _FIELDS}
        return Options(**given)


class LrObservationRequest(Request):
    """What a trainer reports."""

    model_config = ConfigDict(
        extra="forbid",
        frozen=True,
        json_schema_extra={
            "examples": [{"lease": "…", "sequence": 1, "losses": [2.31, 2.29, "nan"]}]
        },
    )

    lease: Annotated[str, Field(max_length=100)] = table.LEASE.field()
    sequence: StrictInt = table.SEQUENCE.field()
    losses: list[Loss] = table.LOSSES.field()
    unasked: StrictBool = table.UNASKED.field()

    @property
    def observation(self) -> Observation:
        """What is reported, as a value."""
        return Observation(self.lease, self.sequence, tuple(self.losses or ()), self.unasked)


class LrLeaseRequest(Request):
    """Who wants to be the session's trainer, and from where on."""

    lease: Annotated[str, Field(max_length=100)] = table.OWN_LEASE.field()
    sequence: StrictInt = table.TO_SEQUENCE.field()
