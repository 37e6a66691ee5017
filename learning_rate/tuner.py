"""The interface of a tuner to a training loop: one action out, one report in.

Callbacks use the protocol `Tuner`; `InProcess` runs the state machine in the
trainer's own process.  A tuner behind HTTP is one more class with the same three methods.
"""

from collections.abc import Callable, Sequence
from typing import Any, Protocol

from topoloom.learning_rate.errors import InvalidOptions
from topoloom.learning_rate.options import Options, Settings
from topoloom.learning_rate.state_machine.extension import extend_run, shortest
from topoloom.learning_rate.state_machine.state import Action, State
from topoloom.learning_rate.state_machine.transitions import observe, start


class Tuner(Protocol):
    """The methods that a callback needs of a tuner."""

    @property
    def action(self) -> Action:
        """The next action of the trainer."""
        ...

    def observe(self, losses: Sequence[float] = ()) -> Action:
        """Report the result of the action, and return the next action."""
        ...

    def state_dict(self) -> dict[str, Any]:
        """Return the state of this tuner, as plain JSON values."""
        ...

    def load_state_dict(self, document: dict[str, Any]) -> None:
        """Restore a state that `state_dict` returned."""
        ...


class InProcess:
    """A tuner in this process; ``state`` is its whole state, a value.

    >>> tuner = InProcess(Options(0.001, 0.1, 1000, method="paper"))
    >>> tuner.action.do, tuner.observe().do
    ('save', 'set_lr')
    >>> again = InProcess(Options(0.001, 0.1, 1000))
    >>> again.load_state_dict(tuner.state_dict())
    >>> again.state == tuner.state
    True
    """

    def __init__(self, options: Options) -> None:
        self.state = start(options)

    @property
    def settings(self) -> Settings:
        """The options of the run with every value filled in."""
        return self.state.settings

    @property
    def action(self) -> Action:
        """The next action of the trainer."""
        return self.state.action

    def observe(self, losses: Sequence[float] = ()) -> Action:
        """Report the result of the action, and return the next action."""
        self.state = observe(self.state, losses)
        return self.state.action

    def extend(self, total_steps: int | None = None) -> int:
        """Give the run another length; None: the one whose decay begins now.  Return the length.

        `InvalidOptions` says why the length cannot change now
        (`learning_rate.state_machine.extension`); the state is unchanged.
        """
        length = shortest(self.state) if total_steps is None else total_steps
        self.state = extend_run(self.state, length)
        return length

    def state_dict(self) -> dict[str, Any]:
        """Return the state as plain JSON values."""
        return self.state.document()

    def load_state_dict(self, document: dict[str, Any]) -> None:
        """Restore a state; `InvalidState` leaves the present state unchanged."""
        self.state = State.from_document(document)


def extended_to(tuner: Tuner, total_steps: int | None) -> int:
    """Give the run of a tuner another length, and return the length.

    Raises:
        InvalidOptions: The tuner keeps its length: it is one of a service, or of a candidate in a
            fork.
    """
    extend: Callable[[int | None], int] | None = getattr(tuner, "extend", None)
    if extend is None:
        raise InvalidOptions("/total_steps", f"cannot change in a {type(tuner).__name__}")
    return extend(total_steps)
