"""One tuner for many ranks: rank 0 calls it and broadcasts the answers.

Every method is a collective operation of the process group: all ranks make the same calls.
An error on rank 0 is raised on every rank.
"""

from collections.abc import Callable, Sequence
from typing import Any, TypeVar

from topoloom.learning_rate.callbacks.snapshot import pytorch
from topoloom.learning_rate.callbacks.start_checks import settings_of
from topoloom.learning_rate.errors import InvalidOptions, LearningRateError, RanksDiffer
from topoloom.learning_rate.options import Settings
from topoloom.learning_rate.state_machine.json_codec import decode, encode
from topoloom.learning_rate.state_machine.state import Action
from topoloom.learning_rate.tuner import Tuner, extended_to

T = TypeVar("T")


class Ranks:
    """A tuner that all ranks of a process group share.

    Losses are averaged over the ranks before they are reported, validation losses too.  Each
    rank has its own checkpoints, since random generators and data differ: the file of `save`
    must be the rank's own, and a ``folder`` of the callback has a folder for each rank.

    Args:
        tuner: The tuner, on rank 0; elsewhere it is not used.
        group: A group of torch.distributed, which must be initialized; default: all ranks.
        sharded: The ranks hold different parts of one model.  Otherwise all ranks must have the
            same parameters: a digest is compared at the start, after each restore and after a
            resume.
    """

    def __init__(self, tuner: Tuner | None, group: Any = None, *, sharded: bool = False) -> None:
        self._torch = pytorch()
        self._distributed = self._torch.distributed
        if not self._distributed.is_initialized():
            raise InvalidOptions("/group", "must be initialized: torch.distributed is not")
        self._group, self._sharded = group, sharded
        self.rank = self._distributed.get_rank(group)
        self.count = self._distributed.get_world_size(group)
        if self.rank == 0 and tuner is None:
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

    @property
    def local(self) -> Tuner | None:
        """The tuner on rank 0; None elsewhere."""
        return self._tuner if self.rank == 0 else None

    @property
    def settings(self) -> Settings | None:
        """The settings of rank 0's tuner, on every rank."""
        document = self._shared(lambda tuner: encode(settings_of(tuner)))
        return None if document is None else decode(Settings, document)

    def observe(self, losses: Sequence[float] = ()) -> Action:
        """Report the mean over the ranks, and return the next action."""
        mean = self._mean(losses)
        self._action = self._action_of(lambda tuner: tuner.observe(mean))
        return self._action

    def extend(self, total_steps: int | None = None) -> int:
        """Give the run another length, on every rank; see `InProcess.extend`."""
        return self._shared(lambda tuner: extended_to(tuner, total_steps))

    def state_dict(self) -> dict[str, Any]:
        """Return the state of rank 0's tuner, on every rank."""
        return self._shared(lambda tuner: tuner.state_dict())

    def load_state_dict(self, document: dict[str, Any]) -> None:
        """Restore a state, on every rank."""

        def load(tuner: Tuner) -> None:
            tuner.load_state_dict(document)

        self._shared(load)
        self._action = None

    def together(self, work: Callable[[], T]) -> list[T]:
        """Do the work on every rank; return the results by rank, or raise on every rank.

        The rank that fails raises its own error, the others `RanksDiffer`.
        """
        result: tuple[Any, str | None] = (None, None)
        raised: Exception | None = None
        try:
            result = (work(), None)
        except Exception as error:
            raised, result = error, (None, str(error))
        results: list[Any] = [None] * self.count
        self._distributed.all_gather_object(results, result, group=self._group)
        if raised is not None:
            raise raised
        for rank, (_, failure) in enumerate(results):
            if failure is not None:
                raise RanksDiffer(f"/ranks/{rank}", f"failed: {failure}")
        return [answer for answer, _ in results]

    def require_same(self, parameters: Sequence[Any]) -> None:
        """Raise `RanksDiffer` on every rank unless all ranks have the same parameters, bit by bit.

        A digest of 16 bytes for each tensor is computed on its device, and only the digests
        travel.  Complexity: one pass over the parameters.
        """
        if self._sharded:
            return
        digests = self.together(lambda: digest(parameters))
        for rank, other in enumerate(digests):
            if other != digests[0]:
                raise RanksDiffer(
                    f"/ranks/{rank}",
                    "has other parameters than rank 0: begin all ranks alike, or set "
                    "Ranks(sharded=True) for a model that is split between the ranks",
                )

    def _mean(self, losses: Sequence[float]) -> list[float]:
        """Return the losses averaged over the ranks; every rank has the same number."""
        values = self._torch.tensor(list(losses), dtype=self._torch.float64, device=self._device)
        self._distributed.all_reduce(values, group=self._group)
        return (values / self.count).tolist()

    def _action_of(self, ask: Callable[[Tuner], Action]) -> Action:
        return decode(Action, self._shared(lambda tuner: encode(ask(tuner))))

    def _shared(self, ask: Callable[[Tuner], Any]) -> Any:
        """Return the answer of rank 0's tuner on every rank; raise its errors on every rank."""
        reply: dict[str, Any] = {}
        raised: Exception | None = None
        if self._tuner is not None and self.rank == 0:
            try:
                reply = {"answer": ask(self._tuner)}
            except Exception as error:
                raised = error
                reply = {"field": getattr(error, "field", "/tuner"), "rule": str(error)}
        box = [reply]
        source = 0
        if self._group is not None:
            source = self._distributed.get_global_rank(self._group, 0)
        self._distributed.broadcast_object_list(box, src=source, group=self._group)
        if raised is not None:
            raise raised
        if "rule" in box[0]:
            raise LearningRateError(box[0]["field"], f"rank 0: {box[0]['rule']}")
        return box[0]["answer"]


def together(ranks: "Ranks | None", work: Callable[[], T]) -> list[T]:
    """Do the work on every rank (`Ranks.together`), or here where there are no ranks."""
    return [work()] if ranks is None else ranks.together(work)


def is_one_of_many() -> bool:
    """Return whether this process is one of several of torch.distributed."""
    distributed = pytorch().distributed
    initialized = distributed.is_available() and distributed.is_initialized()
    return initialized and distributed.get_world_size() > 1


def digest(tensors: Sequence[Any]) -> list[int]:
    """Return two integers for each tensor: the sum of its bits, and their sum by position."""
    torch = pytorch()
    integers = {1: torch.uint8, 2: torch.int16, 4: torch.int32, 8: torch.int64}
    sums = []
    for tensor in tensors:
        flat = tensor.detach().contiguous().reshape(-1)
        if flat.is_complex():
            flat = torch.view_as_real(flat).reshape(-1)
        bits = flat.view(integers[flat.element_size()]).to(torch.int64)
        odd = 2 * torch.arange(len(bits), device=bits.device) + 1
        sums.append(torch.stack([bits.sum(), (bits * odd).sum()]).cpu())
    return torch.cat(sums).tolist() if sums else []
