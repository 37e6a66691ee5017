"""Log lines and TensorBoard curves of a tuner's actions."""

import logging
from collections.abc import Sequence
from typing import Any, Protocol

from topoloom.learning_rate.callbacks.start_checks import most_steps, settings_of
from topoloom.learning_rate.state_machine.state import UNTRAINED, Action, Attempt, Stage

LOG = logging.getLogger("topoloom.learning_rate")


class Writer(Protocol):
    """The method of ``torch.utils.tensorboard.SummaryWriter`` that is used."""

    def add_scalar(self, tag: str, scalar_value: float, global_step: int) -> Any:
        """Add a point to a curve."""
        ...


class Progress:
    """Logs the actions of a tuner, and writes curves; without a tuner it does nothing.

    Lines go to the logger ``topoloom.learning_rate``: the plan, the range test, each stage with its
    candidates, each return to a safe checkpoint and what came of it, the end.  The curves of a
    writer are ``learning_rate``, ``scale/<name>`` of each group of ``group_ratios``, and
    ``loss/kept`` and ``loss/trial`` (``loss`` where the tuner is elsewhere), over the steps run.
    """

    def __init__(self, tuner: Any, writer: Writer | None) -> None:
        self._tuner, self._writer = tuner, writer
        self._spent, self._stages, self._tested, self._cleared = 0, 0, False, 0
        settings = None if tuner is None else settings_of(tuner)
        self._groups = () if settings is None else settings.group_ratios

    def begins(self) -> None:
        """Log the plan, and the step of a resumed run."""
        state = getattr(self._tuner, "state", None)
        if state is None:
            return
        self._stages, self._tested = len(state.history), bool(state.tested)
        self._cleared = state.times_cleared
        settings = settings_of(self._tuner)
        if settings is not None:
            LOG.info(
                "step %d of %d, %d with the search: rates from %.3g to %.3g, method %s",
                state.step, settings.total_steps, most_steps(settings),
                settings.min_lr, settings.max_lr, settings.method,
            )  # fmt: skip

    def reported(self, losses: Sequence[float]) -> None:
        """Write the losses of a report before the tuner counts them; skip validation losses."""
        if self._writer is None or self._tuner is None:
            return
        action, state = self._tuner.action, getattr(self._tuner, "state", None)
        if action.do not in ("set_lr", "go_on"):
            return
        kind = "loss"
        if state is not None:
            kind = "loss/trial" if state.phase == "trial" else "loss/kept"
            self._spent = state.spent
        for loss in losses:
            self._spent += 1
            self._writer.add_scalar(kind, loss, self._spent)
            self._writer.add_scalar("learning_rate", action.lr, self._spent)
            for name, scale in zip(self._groups, action.scales, strict=False):
                self._writer.add_scalar(f"scale/{name}", scale, self._spent)

    def acts(self, action: Action) -> None:
        """Log an action, and the stages that ended before it."""
        if self._tuner is None:
            return
        state = getattr(self._tuner, "state", None)
        if not self._tested and state is not None and state.tested:
            self._tested, settings = True, state.settings
            LOG.info(
                "range test (%s): rates from %.3g to %.3g, warm-up to %.3g",
                _tried(state.tested), settings.min_lr, settings.max_lr, settings.warmup_lr,
            )  # fmt: skip
        if state is not None and state.times_cleared > self._cleared:
            self._cleared = state.times_cleared
            LOG.warning("the loss is as high at the lowest rate: the rate stays as it was")
        for stage in () if state is None else state.history[self._stages :]:
            self._stages += 1
            LOG.info("%s", _line(stage, self._groups))
        if action.do == "restore" and (action.slot or "").startswith("safe"):
            untrained = action.slot == UNTRAINED
            to = "the untrained model" if untrained else f"checkpoint {action.slot}"
            flat = state is not None and state.runs_other
            LOG.warning("the loss %s: back to %s", "has not fallen" if flat else "rises", to)
        elif action.do == "stop":
            steps = "" if state is None else f", {state.step} steps kept of {state.spent}"
            LOG.info("%s%s", action.reason, steps)


def _tried(attempts: Sequence[Attempt], groups: Sequence[str] = ()) -> str:
    return ", ".join(
        f"{one.rate:.3g}{_scaled(one.scales, groups)} {one.status}" for one in attempts
    )


def _line(stage: Stage, groups: Sequence[str]) -> str:
    tried = _tried(stage.attempts, groups) or "no candidate"
    rate = f"rate {stage.rate:.3g}{_scaled(stage.scales, groups)}"
    return f"steps {stage.start} to {stage.start + stage.tau}: {rate} ({tried})"


def _scaled(scales: Sequence[float], groups: Sequence[str]) -> str:
    """Return the scales other than 1, each with the name of its group."""
    pairs = zip(groups, scales, strict=False)
    return "".join(f", {name} times {scale:.3g}" for name, scale in pairs if scale != 1.0)
