"""Errors of the worker pool: cancelled, dead and refused work."""


class Cancelled(Exception):
    """Nobody waits for the work any more, or the service stops; it was ended."""

    def __init__(self) -> None:
        super().__init__("nobody waits for the answer any more, or the service stops")


class WorkDied(RuntimeError):
    """The process that worked ended without an answer.

    >>> str(WorkDied("design", -9))
    'the computation (design) was ended by signal 9'
    """

    def __init__(self, operation: str, code: int | None) -> None:
        ended = f"by signal {-code}" if code is not None and code < 0 else f"with status {code}"
        super().__init__(f"the computation ({operation}) was ended {ended}")


class Busy(RuntimeError):
    """The queue of computations is full."""

    retry_after = 5

    def __init__(self, waiting: int) -> None:
        super().__init__(f"{waiting} computations wait already; ask again later")


class TooManyWaiting(RuntimeError):
    """The limit on waiting computations of one client is reached.

    >>> str(TooManyWaiting(64))
    'at most 64 computations of one client may wait (TOPOLOOM_MAX_WAITING_PER_OWNER); ask again'
    """

    retry_after = 5

    def __init__(self, most: int) -> None:
        super().__init__(
            f"at most {most} computations of one client may wait "
            "(TOPOLOOM_MAX_WAITING_PER_OWNER); ask again"
        )
