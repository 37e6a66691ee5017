"""Requests about learning-rate tuning sessions."""

import math
from typing import Annotated, Any

from pydantic import (
    AfterValidator,
    BeforeValidator,
    ConfigDict,
    Field,
    StrictBool,
    StrictFloat,
    StrictInt,
    StrictStr,
    WithJsonSchema,
)

from topoloom.app.requests.base import Request
from topoloom.app.requests.options import lr_sessions as table
from topoloom.app.requests.options.lr_sessions import AnchorName, MethodName, ValidationName
from topoloom.app.requests.printable import printable
from topoloom.app.requests.renamed import REMOVED
from topoloom.app.store.lr_records import Observation
from topoloom.learning_rate import Options

NOT_FINITE = ("nan", "inf", "-inf")
"""Texts for numbers that JSON lacks."""

_FIELDS = {option.name: option for option in table.TUNING}


def _loss(value: Any) -> float:
    if isinstance(value, str) and value in NOT_FINITE:
        return float(value)
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise ValueError('must be a number, or one of the texts "nan", "inf", "-inf"')
    try:
        return float(value)
    except OverflowError:  # an integer beyond the range of floats
        return math.copysign(math.inf, value)


def _infinite(value: Any) -> Any:
    return math.inf if value == "inf" else value


Loss = Annotated[
    float,
    BeforeValidator(_loss),
    WithJsonSchema({"anyOf": [{"type": "number"}, {"enum": list(NOT_FINITE)}]}),
]
"""A loss; NaN and infinities are allowed."""

Share = Annotated[
    StrictFloat,
    BeforeValidator(_infinite),
    WithJsonSchema({"anyOf": [{"type": "number"}, {"const": "inf"}]}),
]


class LrSessionRequest(Request):
    """Training job and tuning parameters of a new session."""

    model_config = ConfigDict(
        extra="forbid",
        frozen=True,
        json_schema_extra={"examples": [{"min_lr": 1e-4, "max_lr": 0.1, "total_steps": 10_000}]},
    )

    removed = REMOVED

    name: Annotated[str, AfterValidator(printable)] = table.NAME.field(max_length=80)
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
    warm_start: StrictBool = _FIELDS["warm_start"].field()
    look_above: StrictBool = _FIELDS["look_above"].field()
    stop_rises: StrictBool = _FIELDS["stop_rises"].field()
    range_test: StrictBool = _FIELDS["range_test"].field()
    group_ratios: list[StrictStr] = _FIELDS["group_ratios"].field()
    max_overhead: Share = _FIELDS["max_overhead"].field()

    @property
    def options(self) -> Options:
        """The options of the tuner, which checks the remaining rules."""
        return Options(**{name: getattr(self, name) for name in _FIELDS})


class LrObservationRequest(Request):
    """Observation of a trainer."""

    model_config = ConfigDict(
        extra="forbid",
        frozen=True,
        json_schema_extra={
            "examples": [{"lease": "…", "sequence": 1, "losses": [2.31, 2.29, "nan"]}]
        },
    )

    former = ("unasked",)

    lease: Annotated[str, Field(max_length=100)] = table.LEASE.field()
    sequence: StrictInt = table.SEQUENCE.field()
    losses: list[Loss] = table.LOSSES.field()
    unsolicited: StrictBool = table.UNSOLICITED.field()

    @property
    def observation(self) -> Observation:
        """The observation as a value."""
        return Observation(self.lease, self.sequence, tuple(self.losses or ()), self.unsolicited)


class LrExtensionRequest(Request):
    """New length of a run."""

    model_config = ConfigDict(
        extra="forbid",
        frozen=True,
        json_schema_extra={"examples": [{"lease": "…", "sequence": 2, "total_steps": 20_000}]},
    )

    lease: Annotated[str, Field(max_length=100)] = table.LEASE.field()
    sequence: StrictInt = table.SEQUENCE.field()
    total_steps: StrictInt = table.LENGTH.field()

    @property
    def observation(self) -> Observation:
        """The length as an observation."""
        return Observation(self.lease, self.sequence, length=self.total_steps or 0)


class LrLeaseRequest(Request):
    """Takeover of a session by a trainer."""

    lease: Annotated[str, Field(max_length=100)] = table.OWN_LEASE.field()
    sequence: StrictInt = table.TO_SEQUENCE.field()
