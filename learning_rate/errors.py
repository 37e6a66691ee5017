"""Errors of tuning: options, observations, stored states, checkpoints.

The tree::

    LearningRateError
      InvalidOptions        an option is outside its domain
      InvalidObservation    a report does not answer the current action
      InvalidState          a document is not a state of the tuner
      CannotRestore         a checkpoint is missing or does not fit
      RanksDiffer           the ranks of a run hold different saves or parameters
      Diverged              training has diverged; the model is that of a checkpoint
      MissingExtra          an optional package is not installed

Every error carries ``field`` and ``rule``.
"""


class LearningRateError(ValueError):
    """Base of every error of this package.

    >>> str(InvalidOptions("/min_lr", "must be less than max_lr"))
    '/min_lr: must be less than max_lr'
    """

    def __init__(self, field: str, rule: str) -> None:
        super().__init__(f"{field}: {rule}")
        self.field = field
        self.rule = rule

    def __reduce__(self) -> tuple[type["LearningRateError"], tuple[str, str]]:
        return type(self), (self.field, self.rule)


class InvalidOptions(LearningRateError):
    """An option is outside its domain."""


class InvalidObservation(LearningRateError):
    """A report does not answer the current action; the state is unchanged."""


class InvalidState(LearningRateError):
    """A document is not a state of the tuner, or has an unknown version."""


class CannotRestore(LearningRateError):
    """A checkpoint is missing or does not fit the parts to restore."""


class RanksDiffer(LearningRateError):
    """The ranks of one run hold different saves or parameters."""


class Diverged(LearningRateError):
    """Training has diverged, and the parts are those of an earlier checkpoint."""


class MissingExtra(LearningRateError):
    """An optional package is not installed."""
