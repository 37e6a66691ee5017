"""One tuner for many ranks: rank 0 calls it and broadcasts the answers.

Every method is a collective operation of the process group: all ranks make the same calls.
Answers travel as JSON; an error on rank 0 is raised on every rank.
"""

import json
from collections.abc import Callable, Sequence
from typing import Any

from topoloom.learning_rate.callbacks.snapshot import pytorch
from topoloom.learning_rate.errors import InvalidOptions, LearningRateError
from topoloom.learning_rate.state_machine.json_codec import decode, encode
from topoloom.learning_rate.state_machine.state import Action
from topoloom.learning_rate.tuner import Tuner


class Ranks:
    """A tuner that all ranks of a process group share.

    Losses are averaged over the ranks before they are reported, validation losses too.  Each
    rank has its own checkpoints, since random generators and data differ: a ``folder`` of
    the callback, and the file of its `save`, have to be the rank's own.

    Parameters
    ----------
    tuner : Tuner or None
        The tuner, on rank 0; elsewhere it is not used.
    group : process group, optional
        A group of torch.distributed, which must be initialized; default: all ranks.
    """

    def __init__(self, tuner: Tuner | None, group: Any = None) -> None:
        self._torch = pytorch()
        self._distributed = self._torch.distributed
        if not self._distributed.is_initialized():
            raise InvalidOptions("/group", "must be initialized: torch.distributed is not")
        self._group = group
        self._rank = self._distributed.get_rank(group)
        if self._rank == 0 and tuner is None:
            raise InvalidOptions("/tuner", "must be given on rank 0")
        self._tuner, self._action = tuner, None
        nccl = self._distributed.get_backend(group) == "nccl"
        self._device = self._torch.device("cuda" if nccl else "cpu")

    @property
    def action(self) -> Action:
        """The next action of every trainer."""
        if self._action is None:
            self._action = self._action_of(lambda tuner: tuner.action)
        return self._action

    def observe(self, losses: Sequence[float] = ()) -> Action:
        """Report the mean over the ranks, and return the next action."""
        mean = self._mean(losses)
        self._action = self._action_of(lambda tuner: tuner.observe(mean))
        return self._action

    def state_dict(self) -> dict[str, Any]:
        """Return the state of rank 0's tuner, on every rank."""
        return self._shared(lambda tuner: tuner.state_dict())

    def load_state_dict(self, document: dict[str, Any]) -> None:
        """Go back to a state, on every rank."""

        def load(tuner: Tuner) -> None:
            tuner.load_state_dict(document)

        self._shared(load)
        self._action = None

    def _mean(self, losses: Sequence[float]) -> list[float]:
        """Return the losses averaged over the ranks; every rank has the same number."""
        values = self._torch.tensor(list(losses), dtype=self._torch.float64, device=self._device)
        self._distributed.all_reduce(values, group=self._group)
        return (values / self._distributed.get_world_size(self._group)).tolist()

    def _action_of(self, ask: Callable[[Tuner], Action]) -> Action:
        return decode(Action, self._shared(lambda tuner: encode(ask(tuner))))

    def _shared(self, ask: Callable[[Tuner], Any]) -> Any:
        """Return the answer of rank 0's tuner on every rank; raise its errors on every rank."""
        reply: dict[str, Any] = {}
        raised: Exception | None = None
        if self._tuner is not None and self._rank == 0:
            try:
                reply = {"answer": ask(self._tuner)}
            except Exception as error:
                raised = error
                reply = {"field": getattr(error, "field", "/tuner"), "rule": str(error)}
        reply = self._from_rank_0(reply)
        if raised is not None:
            raise raised
        if "rule" in reply:
            raise LearningRateError(reply["field"], f"rank 0: {reply['rule']}")
        return reply["answer"]

    def _from_rank_0(self, document: dict[str, Any]) -> dict[str, Any]:
        torch, distributed = self._torch, self._distributed
        source = 0 if self._group is None else distributed.get_global_rank(self._group, 0)
        content = json.dumps(document).encode()
        size = torch.tensor([len(content)], dtype=torch.int64, device=self._device)
        distributed.broadcast(size, src=source, group=self._group)
        data = torch.zeros(int(size), dtype=torch.uint8, device=self._device)
        if self._rank == 0:
            data = torch.tensor(list(content), dtype=torch.uint8, device=self._device)
        distributed.broadcast(data, src=source, group=self._group)
        return json.loads(bytes(data.tolist()))
