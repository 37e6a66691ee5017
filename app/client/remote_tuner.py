"""A tuner behind HTTP, for the callbacks: the same three methods as the one in process.

While the service does not answer, training waits for it, and after some patience goes on at
the last rate.  What could not be reported is kept in order and reported when the service is
back; what it makes of steps that nobody asked for is `learning_rate.state_machine.offline_steps`.
"""

import time
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from topoloom.app.client import Client, Refused, Unreachable
from topoloom.learning_rate import Action, Options
from topoloom.learning_rate.errors import InvalidState
from topoloom.learning_rate.options import MAX_OVERRUN
from topoloom.learning_rate.state_machine.json_codec import encode

LOST = (429, 502, 503, 504)
"""Statuses that are no answer: somebody on the way, or the database, is not there just now."""
PAUSE_SECONDS = 0.2  # between two tries while training waits


@dataclass(slots=True)
class Report:
    """An observation on its way: ``runs`` if of steps; ``sent`` if the service may have it."""

    sequence: int
    losses: list[float]
    runs: bool
    unasked: bool = False
    sent: bool = False


class RemoteTuner:
    """A session of a service as a tuner; it begins when it is first asked for an action.

    Parameters
    ----------
    client : Client
        Of the service.  Its timeout is how long one try may take.
    options : Options, optional
        What is asked for; without them the tuner is for `load_state_dict` only.
    name : str
        What people call the job.
    patience_seconds : float
        How long training waits for a service that does not answer before it goes on.
    retry_seconds : float
        How often it is tried while training goes on.

    Raises
    ------
    Refused
        From every method: the service refuses what it is told, for instance since the session
        was cancelled or another trainer has it.
    Unreachable
        From the first action and from `load_state_dict`: there is no rate to go on at.

    Examples
    --------
    >>> tuner = RemoteTuner(Client("http://127.0.0.1:1"), Options(1e-4, 1.0, 1000),
    ...                     patience_seconds=0)
    >>> tuner.action  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    ...
    topoloom.app.client.transport.Unreachable: http://127.0.0.1:1 does not answer: [Errno 111] ...
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
        self._reports: deque[Report] = deque()
        self._tried = 0.0

    @property
    def session_id(self) -> str:
        """The id of the session; empty before it has begun."""
        return self._id

    @property
    def is_cut_off(self) -> bool:
        """Whether something could not be reported yet."""
        return bool(self._reports)

    @property
    def action(self) -> Action:
        """What the trainer does next."""
        if self._action is None:
            self._begin()
        assert self._action is not None, "a session that has begun has an action"
        return self._action

    def observe(self, losses: Sequence[float] = ()) -> Action:
        """Report what came of the action, and return the next one.

        While the service cannot be reached that is one more step at the last rate.
        """
        action = self.action
        if action.lr is not None:
            self._lr = action.lr
        self._note([float(loss) for loss in losses], action.do in ("set_lr", "go_on"))
        if not self._reports[0].sent:
            self._deliver(self._patience)
        elif time.monotonic() - self._tried >= self._retry:
            self._deliver(0.0)
        if self._reports:
            self._action = self._unasked()
        return self.action

    def state_dict(self) -> dict[str, Any]:
        """Return what finds the session again in this state, as plain JSON values."""
        return encode_all(
            {
                "session": self._id,
                "lease": self._lease,
                "sequence": self._sequence,
                "total": self._total,
                "lr": self._lr,
                "reports": [asdict(report) for report in self._reports],
            }
        )

    def load_state_dict(self, document: dict[str, Any]) -> None:
        """Go back to a state, in this process or another one; what came after counts no more.

        Raises
        ------
        InvalidState
            The document is not one of `state_dict`.
        """
        try:
            identity, lease, sequence, total, lr = (
                document[name] for name in ("session", "lease", "sequence", "total", "lr")
            )
            reports = [
                Report(one["sequence"], list(map(float, one["losses"])), one["runs"],
                       one["unasked"], sent=True)
                for one in document["reports"]
            ]  # fmt: skip
        except (KeyError, TypeError, ValueError):
            raise InvalidState("/tuner", "must be the state of a session") from None
        self._action, self._reports, self._sequence = None, deque(reports), sequence
        if not identity:
            self._id = ""
            return
        mine = self._lease if self._id == identity else lease
        told = self._waiting_for(
            lambda: self._client.lr_attach(identity, lease=mine, sequence=sequence)
        )
        self._id, self._lease, self._total, self._lr = identity, told["lease"], total, lr
        self._take(told)
        self._deliver(self._patience)
        if self._reports:
            self._action = self._unasked()

    def _begin(self) -> None:
        if self._options is None:
            raise InvalidState("/tuner", "has no options, and no session was loaded")
        asked = {name: value for name, value in encode(self._options).items() if value is not None}
        told = self._waiting_for(lambda: self._client.lr_session(name=self._name, **asked))
        self._id, self._lease, self._total = told["id"], told["lease"], self._options.total_steps
        self._take(told)

    def _take(self, told: dict[str, Any]) -> None:
        """Take over an answer of the service."""
        action = told["action"]
        self._sequence, self._step = told["sequence"], told["step"]
        self._action = Action(**{**action, "keep": tuple(action.get("keep", ()))})

    def _note(self, losses: list[float], runs: bool) -> None:
        """Keep what is to be reported: an answer, or further steps that nobody asked for."""
        last = self._reports[-1] if self._reports else None
        if last is None:
            self._reports.append(Report(self._sequence + 1, losses, runs))
        elif not last.unasked or last.sent or len(last.losses) + len(losses) > MAX_OVERRUN:
            self._reports.append(Report(last.sequence + 1, losses, runs, unasked=True))
        else:
            last.losses += losses

    def _deliver(self, patience: float) -> None:
        """Send what is kept, oldest first, until all is sent or nobody answers."""
        until = time.monotonic() + patience
        while self._reports:
            try:
                told = self._send(self._reports[0])
            except Unreachable:
                if time.monotonic() >= until:
                    self._tried = time.monotonic()
                    return
                time.sleep(min(PAUSE_SECONDS, patience))
                continue
            self._reports.popleft()
            self._take(told)

    def _send(self, report: Report) -> dict[str, Any]:
        # From now on the service may have it: what it has must not change any more.
        report.sent = True
        return self._asked(
            lambda: self._client.lr_observe(
                self._id,
                lease=self._lease,
                sequence=report.sequence,
                losses=encode_all(report.losses),
                unasked=report.unasked,
            )
        )

    def _waiting_for(self, ask: Callable[[], dict[str, Any]]) -> dict[str, Any]:
        """Return what the service answers; `Unreachable` when patience is at its end."""
        until = time.monotonic() + self._patience
        while True:
            try:
                return self._asked(ask)
            except Unreachable:
                if time.monotonic() >= until:
                    raise
                time.sleep(PAUSE_SECONDS)

    def _asked(self, ask: Callable[[], dict[str, Any]]) -> dict[str, Any]:
        try:
            return ask()
        except Refused as refused:
            if refused.status in LOST:
                raise Unreachable(str(refused)) from None
            raise

    def _unasked(self) -> Action:
        """Return what the trainer does while nobody tells it: a step at the last rate."""
        ahead = sum(len(report.losses) for report in self._reports if report.runs)
        if self._step + ahead >= self._total:
            self._deliver(self._patience)
            return self.action if not self._reports else Action("stop", reason="finished")
        if self._lr is None:
            raise Unreachable(f"{self._client.base_url} does not answer, and no rate is set yet")
        return Action("go_on", lr=self._lr, steps=1)


def encode_all(value: Any) -> Any:
    """Return plain JSON values; numbers that JSON lacks are texts.

    >>> encode_all({"losses": [1.0, float("nan")]})
    {'losses': [1.0, 'nan']}
    """
    if isinstance(value, dict):
        return {name: encode_all(one) for name, one in value.items()}
    if isinstance(value, list | tuple):
        return [encode_all(one) for one in value]
    return encode(value)
