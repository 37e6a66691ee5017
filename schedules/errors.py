"""Errors of schedules and of requests for schedules.

The tree::

    ScheduleError
      InvalidSchedule       a schedule document breaks a rule of its format
      UnknownCollective     no such collective
      UnknownPreset         no such preset workload
      NoSchedule            this algorithm cannot serve this topology or request
      TooLarge              an explicit limit on size is exceeded
      TookTooLong           an explicit limit on time is exceeded
      NotExportable         the target format cannot express this schedule
      InvalidProgram        an exported file breaks the rules of its format
      ExecutionFailed       processes fail to start or to complete a schedule

Every error carries ``field`` and ``rule`` as in `synth.errors`.
"""

__all__ = [
    "ExecutionFailed",
    "InvalidProgram",
    "InvalidSchedule",
    "NoSchedule",
    "NotExportable",
    "ScheduleError",
    "TooLarge",
    "TookTooLong",
    "UnknownCollective",
    "UnknownPreset",
]


class ScheduleError(ValueError):
    """Base of all errors that this package raises for a caller's mistake.

    >>> str(UnknownCollective("/collective", "must be one of allgather, allreduce"))
    '/collective: must be one of allgather, allreduce'
    """

    def __init__(self, field: str, rule: str) -> None:
        super().__init__(f"{field}: {rule}")
        self.field = field
        self.rule = rule

    def __reduce__(self) -> tuple[type["ScheduleError"], tuple[str, str]]:
        return type(self), (self.field, self.rule)


class InvalidSchedule(ScheduleError):
    """A schedule document breaks a rule of schedule/1."""


class UnknownCollective(ScheduleError):
    """No such collective."""


class UnknownPreset(ScheduleError):
    """No such preset workload."""


class NoSchedule(ScheduleError):
    """This algorithm cannot serve this topology or this request."""


class TooLarge(ScheduleError):
    """An explicit limit on size is exceeded."""


class TookTooLong(ScheduleError):
    """An explicit limit on time is exceeded."""


class NotExportable(ScheduleError):
    """The target format cannot express this schedule."""


class InvalidProgram(ScheduleError):
    """An exported file breaks the rules of its format."""


class ExecutionFailed(ScheduleError):
    """Processes fail to start or to complete a schedule."""
