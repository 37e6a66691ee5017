"""A request that the service answers later."""

from __future__ import annotations

import time
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from topoloom.app.client.arguments import checked_seconds
from topoloom.app.client.errors import Refused, ServiceError
from topoloom.app.client.transport import Transport, is_job

if TYPE_CHECKING:
    from topoloom.app.client.types import JobDocument

R = TypeVar("R")


class Handle(Generic[R]):
    """A submitted request; `Client.submit` returns a handle.

    A request whose answer was stored already has no job, and its state is ``done`` at once.  The
    job continues without the handle: ``Handle(client, client.job(id))`` is a handle of the same
    job, in any process.

    >>> handle = Handle(Transport(), {"schema": "design/1"})
    >>> handle.state(), handle.result()
    ('done', {'schema': 'design/1'})
    """

    def __init__(self, client: Transport, answer: Any) -> None:
        self._client = client
        self._job: JobDocument | None = answer if is_job(answer) else None
        self._answer = answer

    @property
    def id(self) -> str | None:
        """The id of the job; None without a job."""
        return None if self._job is None else self._job["id"]

    def __repr__(self) -> str:
        if self._job is None:
            return "<Handle of a stored answer>"
        return f"<Handle of job {self.id}, {self._job['state']}>"

    def job(self) -> JobDocument:
        """Return the job/1 document, as the job stands.

        Raises:
            ServiceError: The answer was stored already, so that there is no job.
        """
        return self._current()

    def _current(self, deadline: float | None = None) -> JobDocument:
        if self._job is None:
            raise ServiceError("the answer was stored already: there is no job")
        job = self._job
        if job["ended_at"] is None:
            self._job = job = self._client._current(job, deadline)
        return job

    def state(self) -> str:
        """Return ``queued``, ``running``, ``done``, ``failed`` or ``cancelled``."""
        return "done" if self._job is None else self.job()["state"]

    def wait(self, timeout_seconds: float | None = None) -> str:
        """Return the state when the job has ended; by default wait as long as the client does.

        Raises:
            Unreachable: The job did not end in time; the job continues.
        """
        deadline = self._deadline(timeout_seconds)
        if self._job is not None:
            self._job = self._client._ended(self._current(deadline), deadline)
        return self.state()

    def events(self) -> Iterator[JobDocument]:
        """Yield the job at every change until its end."""
        if self._job is not None:
            for job in self._client._events(f"{self._path()}/events"):
                self._job = job
                yield job

    def cancel(self) -> None:
        """Cancel the job, unless the job has ended."""
        if self._job is None:
            return
        try:
            self._job = self._client._post(f"{self._path()}/cancel", {})
        except Refused as refused:
            if refused.type != "/problems/job-ended":
                raise

    def result(self, timeout_seconds: float | None = None) -> R:
        """Return the answer when the job has ended; wait at most as `wait` does.

        Raises:
            Refused: The job failed with a problem, or was cancelled.
            Unreachable: The job did not end in time; the job continues.
        """
        if self._job is not None:
            self.wait(timeout_seconds)
            self._answer = self._client._result_of(self._job, self._deadline(None))
        return self._answer

    def _path(self) -> str:
        return f"/v1/jobs/{self.id}"

    def _deadline(self, timeout_seconds: float | None) -> float:
        if timeout_seconds is None:
            timeout_seconds = self._client.timeout_seconds
        return time.monotonic() + checked_seconds(timeout_seconds, zero=True)
