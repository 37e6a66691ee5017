"""The learning rates of one or several optimizers, in ratios that the tuner may scale."""

from collections.abc import Sequence
from typing import Any

from topoloom.learning_rate.callbacks.group_names import named_groups
from topoloom.learning_rate.errors import InvalidOptions


class Rates:
    """Sets the rates of all parameter groups: rate times the ratio of a group times its scale.

    The ratios are those of the first rates, and the tuner's rate is that of the group with the
    largest rate.  The groups of ``names`` (`Options.group_ratios`) have scales.
    """

    def __init__(self, optimizers: Sequence[Any], names: Sequence[str] = ()) -> None:
        self._optimizers = optimizers
        rates = [float(group["lr"]) for group in self._groups()]
        if not rates or not max(rates) > 0:
            raise InvalidOptions("/optimizer", "must have a parameter group with a rate above 0")
        self.ratios = [rate / max(rates) for rate in rates]
        self.lr: float | None = None
        self.scales: tuple[float, ...] = ()
        self.name(names)

    def _groups(self) -> list[dict[str, Any]]:
        return [group for optimizer in self._optimizers for group in optimizer.param_groups]

    def name(self, names: Sequence[str]) -> None:
        """State the groups that have scales; `InvalidOptions` where there is no such group."""
        self._named = named_groups(self._optimizers, names)
        self.names = list(names)

    def parameters(self) -> list[Any]:
        """Return the parameters of all groups."""
        return [parameter for group in self._groups() for parameter in group["params"]]

    def set(self, lr: float | None, scales: Sequence[float] = ()) -> None:
        """Set the rates; `InvalidOptions` where a parameter group was added.

        Args:
            scales: One for each name; without scales all are 1.
        """
        if len(scales) not in (0, len(self.names)):
            raise InvalidOptions("/group_ratios", f"must name {len(scales)} groups, as the tuner's")
        self.lr, self.scales = lr, tuple(scales)
        groups = self._groups()
        if len(groups) != len(self.ratios):
            raise InvalidOptions("/optimizer", f"must keep its {len(self.ratios)} parameter groups")
        for group, value in zip(groups, self._values(), strict=True):
            if hasattr(group["lr"], "fill_"):
                group["lr"].fill_(value)
            else:
                group["lr"] = value

    def require_set(self) -> None:
        """Raise `InvalidOptions` where something else has changed a rate.

        Rates that are tensors are not compared: a comparison would wait for the device.
        """
        for place, (group, own) in enumerate(zip(self._groups(), self._values(), strict=True)):
            found = group["lr"]
            if not hasattr(found, "fill_") and found != own:
                raise InvalidOptions(
                    "/scheduler",
                    f"must be left out: the rate of parameter group {place} is {found}, "
                    f"and the tuner sets {own}",
                )

    def _values(self) -> list[float]:
        """Return the rate of each group."""
        values = [(self.lr or 0.0) * ratio for ratio in self.ratios]
        for places, scale in zip(self._named, self.scales, strict=False):
            for place in places:
                values[place] *= scale
        return values
