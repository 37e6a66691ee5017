"""The interface of a tuner to a training loop: one action out, one report in.

Callbacks use the protocol `Tuner`; `InProcess` runs the state machine in the
trainer's own process.  A tuner behind HTTP is one more class with the same three methods.
"""

from collections.abc import Sequence
from typing import Any, Protocol

from topoloom.learning_rate.options import Options, Settings
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

    def state_dict(self) -> dict[str, Any]:
        """Return the state as plain JSON values."""
        return self.state.document()

    def load_state_dict(self, document: dict[str, Any]) -> None:
        """Restore a state; `InvalidState` leaves the present state unchanged."""
        self.state = State.from_document(document)
