"""Losses of the steps since the last report; tensors stay on their device until they are read."""

from collections.abc import Iterable
from typing import Any

from topoloom.learning_rate.callbacks.snapshot import pytorch


class Losses:
    """Losses, each as it was when it was added."""

    def __init__(self, losses: Iterable[float] = ()) -> None:
        self._losses: list[Any] = list(losses)

    def __len__(self) -> int:
        return len(self._losses)

    def add(self, loss: Any) -> None:
        """Add a number, or a tensor of one value; a later change of the tensor changes nothing."""
        if hasattr(loss, "detach"):
            self._losses.append(loss.detach().reshape(()).clone())
        else:
            self._losses.append(float(loss))

    def numbers(self) -> list[float]:
        """Return the losses as numbers; all tensors are read at once."""
        tensors = [loss for loss in self._losses if hasattr(loss, "detach")]
        read = iter(pytorch().stack(tensors).tolist() if tensors else ())
        return [float(next(read)) if hasattr(one, "detach") else one for one in self._losses]

    def taken(self) -> list[float]:
        """Return the losses as numbers, and forget them."""
        numbers, self._losses = self.numbers(), []
        return numbers
