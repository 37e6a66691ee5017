"""Errors of adding, changing and running jobs."""

RETRY_SECONDS = 30
"""Seconds after which a refused client may try again."""


class _Later(RuntimeError):
    retry_after = RETRY_SECONDS


class QueueFull(_Later):
    """The limit on waiting jobs of all clients together is reached.

    >>> str(QueueFull(10))
    'no more jobs are taken: 10 wait already (TOPOLOOM_MAX_QUEUED_JOBS); try again later'
    """

    def __init__(self, most: int) -> None:
        super().__init__(
            f"no more jobs are taken: {most} wait already (TOPOLOOM_MAX_QUEUED_JOBS); "
            "try again later"
        )


class TooManyJobs(_Later):
    """The limit on waiting jobs of one client is reached.

    >>> str(TooManyJobs(10))
    'at most 10 jobs of one client may wait (TOPOLOOM_MAX_QUEUED_JOBS_PER_OWNER); try again later'
    """

    def __init__(self, most: int) -> None:
        super().__init__(
            f"at most {most} jobs of one client may wait (TOPOLOOM_MAX_QUEUED_JOBS_PER_OWNER); "
            "try again later"
        )


class TooManyListeners(_Later):
    """The limit on open event streams of this process is reached."""

    def __init__(self, most: int) -> None:
        super().__init__(f"at most {most} streams of events are open at once; try again later")


class JobEnded(RuntimeError):
    """The operation needs a job that has not ended.

    >>> str(JobEnded("done"))
    'id: the job has ended already: it is done'
    """

    def __init__(self, state: str) -> None:
        self.field = "id"
        self.rule = f"the job has ended already: it is {state}"
        super().__init__(f"id: {self.rule}")


class NotEnded(RuntimeError):
    """The operation needs a job that has ended.

    >>> str(NotEnded("running"))
    'id: the job must have ended, or be cancelled first; it is running'
    """

    def __init__(self, state: str) -> None:
        self.field = "id"
        self.rule = f"the job must have ended, or be cancelled first; it is {state}"
        super().__init__(f"id: {self.rule}")


class WebhookRefused(ValueError):
    """No message is sent to this address; says which rule forbids it."""

    def __init__(self, rule: str) -> None:
        self.field = "webhook"
        self.rule = rule
        super().__init__(f"webhook: {rule}")


class WorkFailed(RuntimeError):
    """The work of a job came to an end that is nobody's answer: killed, or without memory."""
