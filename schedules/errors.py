"""Errors of schedules and of requests for schedules.

Every error carries ``field`` and ``rule`` as in `synth.errors`.
"""

from topoloom.synth.errors import InputError


class ScheduleError(InputError):
    """Base of all errors that this package raises for a caller's mistake.

    >>> str(UnknownCollective("/collective", "must be one of allgather, allreduce"))
    '/collective: must be one of allgather, allreduce'
    """


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
