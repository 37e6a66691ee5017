"""The learning rates of one or several optimizers, in fixed ratios."""

from collections.abc import Sequence
from typing import Any

from topoloom.learning_rate.errors import InvalidOptions


class Rates:
    """Sets the rates of all parameter groups; the groups keep the ratios of their first rates.

    The tuner's rate is that of the group with the largest rate.
    """

    def __init__(self, optimizers: Sequence[Any]) -> None:
        self._optimizers = optimizers
        rates = [float(group["lr"]) for group in self._groups()]
        if not rates or not max(rates) > 0:
            raise InvalidOptions("/optimizer", "must have a parameter group with a rate above 0")
        self.ratios = [rate / max(rates) for rate in rates]
        self.lr: float | None = None

    def _groups(self) -> list[dict[str, Any]]:
        return [group for optimizer in self._optimizers for group in optimizer.param_groups]

    def parameters(self) -> list[Any]:
        """Return the parameters of all groups."""
        return [parameter for group in self._groups() for parameter in group["params"]]

    def set(self, lr: float | None) -> None:
        """Set the rates; `InvalidOptions` where a parameter group was added."""
        self.lr = lr
        groups = self._groups()
        if len(groups) != len(self.ratios):
            raise InvalidOptions("/optimizer", f"must keep its {len(self.ratios)} parameter groups")
        for group, ratio in zip(groups, self.ratios, strict=True):
            value = (lr or 0.0) * ratio
            if hasattr(group["lr"], "fill_"):
                group["lr"].fill_(value)
            else:
                group["lr"] = value

    def require_set(self) -> None:
        """Raise `InvalidOptions` where something else has changed a rate.

        Rates that are tensors are not compared: a comparison would wait for the device.
        """
        for place, (group, ratio) in enumerate(zip(self._groups(), self.ratios, strict=True)):
            found, own = group["lr"], (self.lr or 0.0) * ratio
            if not hasattr(found, "fill_") and found != own:
                raise InvalidOptions(
                    "/scheduler",
                    f"must be left out: the rate of parameter group {place} is {found}, "
                    f"and the tuner sets {own}",
                )
