"""A tuner over HTTP, with the interface of the tuner in process.

While the service does not answer, training waits for ``patience_seconds`` and then continues at the
last rate.  The tuner queues observations and reports them when the service is back;
`learning_rate.state_machine.offline_steps` treats the additional steps.
"""

import time
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from copy import copy
from dataclasses import asdict, dataclass
from typing import Any, TypeVar

from topoloom.app.client import Client, Refused, Unreachable
from topoloom.learning_rate import Action, Options
from topoloom.learning_rate.errors import InvalidState
from topoloom.learning_rate.options import MAX_OVERRUN, Settings
from topoloom.learning_rate.state_machine.json_codec import encode

T = TypeVar("T")

LOST = (429, 502, 503, 504)
"""Statuses of an unavailable proxy, service or database."""
PAUSE_SECONDS = 0.2  # between two attempts while training waits


@dataclass(slots=True)
class Report:
    """A queued observation: ``runs`` if it reports steps; ``sent`` after the first attempt."""

    sequence: int
    losses: list[float]
    runs: bool
    unasked: bool = False
    sent: bool = False


class RemoteTuner:
    """A tuner with a session at a service; the first action creates the session.

    Args:
        client: Client of the service; its timeout limits one attempt.
        options: Options of the session; without options, the tuner needs `load_state_dict`.
        name: Name of the job.
        patience_seconds: Time that training waits for the service before it continues.
        retry_seconds: Time between attempts while training continues.

    Raises:
        Refused: From every method: the service refuses a request, for instance because the session
            was cancelled or another trainer took over.
        Unreachable: From the first action and from `load_state_dict`: no rate is known.

    >>> tuner = RemoteTuner(Client("http://127.0.0.1:1"), Options(1e-4, 1.0, 1000),
    ...                     patience_seconds=0)
    >>> tuner.action  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    ...
    topoloom.app.client.errors.Unreachable: http://127.0.0.1:1 does not answer: [Errno 111] ...
    """

    def __init__(
        self,
        client: Client,
        options: Options | None = None,
        *,
        name: str = "",
        patience_seconds: float = 30.0,
        retry_seconds: float = 5.0,
    ) -> None:
        self._client, self._options, self._name = client, options, name
        self._patience, self._retry = patience_seconds, retry_seconds
        self._id = self._lease = ""
        self._sequence = self._step = self._total = 0
        self._action: Action | None = None
        self._lr: float | None = None
        self._scales: tuple[float, ...] = ()
        self._reports: deque[Report] = deque()
        self._tried = 0.0

    @property
    def session_id(self) -> str:
        """The id of the session; empty before the first action."""
        return self._id

    @property
    def settings(self) -> Settings | None:
        """The options of the session with every value filled in; None where it was loaded."""
        return None if self._options is None else self._options.settled()

    @property
    def is_cut_off(self) -> bool:
        """Whether observations are queued."""
        return bool(self._reports)

    @property
    def action(self) -> Action:
        """The next action of the trainer."""
        if self._action is None:
            self._begin()
        assert self._action is not None, "a session has an action"
        return self._action

    def observe(self, losses: Sequence[float] = ()) -> Action:
        """Report the result of the action; return the next action.

        While the service is unreachable, the next action is one more step at the last rate.
        """
        action = self.action
        if action.lr is not None:
            self._lr, self._scales = action.lr, action.scales
        self._note([float(loss) for loss in losses], action.do in ("set_lr", "go_on"))
        if not self._reports[0].sent:
            self._deliver(self._patience)
        elif time.monotonic() - self._tried >= self._retry:
            self._deliver(0.0)
        if self._reports:
            self._action = self._offline_action()
        return self.action

    def extend(self, total_steps: int | None = None) -> int:
        """Give the run another length, None begins its decay; return the length.

        Raises:
            Unreachable: The service does not answer, or observations are queued; the length stays.
            Refused: The length cannot change now.
        """
        if self._action is None:
            self._begin()
        if self._reports:
            raise Unreachable(f"{self._client.base_url} has not taken all observations yet")
        length = {} if total_steps is None else {"total_steps": total_steps}
        fields: dict[str, Any] = {"lease": self._lease, "sequence": self._sequence + 1, **length}
        session = self._waiting_for(lambda: self._once().lr_extend(self._id, **fields))
        self._total = session["options"]["total_steps"]
        self._take(session)
        return self._total

    def state_dict(self) -> dict[str, Any]:
        """Return the state for `load_state_dict`, as plain JSON values."""
        return encode_all(
            {
                "session": self._id,
                "lease": self._lease,
                "sequence": self._sequence,
                "total": self._total,
                "lr": self._lr,
                "scales": self._scales,
                "reports": [asdict(report) for report in self._reports],
            }
        )

    def load_state_dict(self, document: dict[str, Any]) -> None:
        """Return to a state, in this process or another, and discard later observations.

        Raises:
            InvalidState: The document is not a result of `state_dict`.
        """
        try:
            identity, lease, sequence, total, lr = (
                document[name] for name in ("session", "lease", "sequence", "total", "lr")
            )
            reports = [
                Report(report["sequence"], list(map(float, report["losses"])), report["runs"],
                       report["unasked"], sent=True)
                for report in document["reports"]
            ]  # fmt: skip
            scales = tuple(map(float, document.get("scales", ())))
        except (KeyError, TypeError, ValueError):
            raise InvalidState("/tuner", "must be the state of a session") from None
        self._action, self._reports, self._sequence = None, deque(reports), sequence
        if not identity:
            self._id = ""
            return
        mine = self._lease if self._id == identity else lease
        session = self._waiting_for(
            lambda: self._once().lr_attach(identity, lease=mine, sequence=sequence)
        )
        self._id, self._lease, self._total, self._lr = identity, session.get("lease", ""), total, lr
        self._scales = scales
        self._take(session)
        self._deliver(self._patience)
        if self._reports:
            self._action = self._offline_action()

    def _begin(self) -> None:
        if self._options is None:
            raise InvalidState("/tuner", "has no options, and no session was loaded")
        options = {
            name: value for name, value in encode(self._options).items() if value is not None
        }
        session = self._waiting_for(lambda: self._once().lr_session(name=self._name, **options))
        self._id, self._lease = session["id"], session.get("lease", "")
        self._total = self._options.total_steps
        self._take(session)

    def _take(self, reply: Mapping[str, Any]) -> None:
        """Adopt the state of a reply."""
        action = reply["action"]
        self._sequence, self._step = reply["sequence"], reply["step"]
        known: dict[str, Any] = {n: action[n] for n in Action.__slots__ if n in action}
        for name in ("keep", "scales"):
            known[name] = tuple(action.get(name, ()))
        self._action = Action(**known)

    def _note(self, losses: list[float], runs: bool) -> None:
        """Queue an observation: the result of an action, or steps without an action."""
        last = self._reports[-1] if self._reports else None
        if last is None:
            self._reports.append(Report(self._sequence + 1, losses, runs))
        elif not last.unasked or last.sent or len(last.losses) + len(losses) > MAX_OVERRUN:
            self._reports.append(Report(last.sequence + 1, losses, runs, unasked=True))
        else:
            last.losses += losses

    def _deliver(self, patience: float) -> None:
        """Send the queue, oldest first, until it is empty or the patience is over."""
        until = time.monotonic() + patience
        while self._reports:
            try:
                reply = self._send(self._reports[0])
            except Unreachable:
                if time.monotonic() >= until:
                    self._tried = time.monotonic()
                    return
                time.sleep(min(PAUSE_SECONDS, patience))
                continue
            self._reports.popleft()
            self._take(reply)

    def _send(self, report: Report) -> Any:
        # The service may store the report from now on, so the report must not change.
        report.sent = True
        return self._call(
            lambda: self._once().lr_observe(
                self._id,
                lease=self._lease,
                sequence=report.sequence,
                losses=encode_all(report.losses),
                unsolicited=report.unasked,
            )
        )

    def _waiting_for(self, request: Callable[[], T]) -> T:
        """Return the reply of the service; raise `Unreachable` after the patience."""
        until = time.monotonic() + self._patience
        while True:
            try:
                return self._call(request)
            except Unreachable:
                if time.monotonic() >= until:
                    raise
                time.sleep(PAUSE_SECONDS)

    def _once(self) -> Client:
        """Return the client for one attempt: training continues between the tuner's attempts."""
        client = copy(self._client)
        client.attempts = 1
        return client

    def _call(self, request: Callable[[], T]) -> T:
        try:
            return request()
        except Refused as refused:
            if refused.status in LOST:
                raise Unreachable(str(refused)) from None
            raise

    def _offline_action(self) -> Action:
        """Return the action while the service is unreachable: one step at the last rate."""
        ahead = sum(len(report.losses) for report in self._reports if report.runs)
        if self._step + ahead >= self._total:
            self._deliver(self._patience)
            return self.action if not self._reports else Action("stop", reason="finished")
        if self._lr is None:
            raise Unreachable(f"{self._client.base_url} does not answer, and no rate is set yet")
        return Action("go_on", lr=self._lr, steps=1, scales=self._scales)


def encode_all(value: Any) -> Any:
    """Return plain JSON values; numbers that JSON lacks are texts.

    >>> encode_all({"losses": [1.0, float("nan")]})
    {'losses': [1.0, 'nan']}
    """
    if isinstance(value, dict):
        return {name: encode_all(member) for name, member in value.items()}
    if isinstance(value, list | tuple):
        return [encode_all(entry) for entry in value]
    return encode(value)
