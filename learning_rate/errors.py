"""What can be wrong with a tuning job or with what it is told.

The tree::

    LearningRateError
      InvalidOptions        an option is outside its domain
      InvalidObservation    what is reported does not answer the action that was given
      InvalidState          a document is no state of the tuner
      CannotRestore         a checkpoint is missing or does not fit
      MissingExtra          an optional package is not installed

Every error carries ``field`` and ``rule``.  They are the package's own: it is sealed.
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
    """What is reported does not answer the action that was given; the state is unharmed."""


class InvalidState(LearningRateError):
    """A document is no state of the tuner, or one of a version this program does not read."""


class CannotRestore(LearningRateError):
    """A checkpoint is missing or does not fit what it is to be restored into."""


class MissingExtra(LearningRateError):
    """An optional package is not installed."""
