"""What can be asked of the generators of schedules, and which of them knows what."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass, fields
from fractions import Fraction
from types import MappingProxyType

from topoloom.schedules.errors import NoSchedule
from topoloom.schedules.model.schedule import Collective
from topoloom.synth.topology.topology import NodeId

__all__ = [
    "NOTHING_ASKED",
    "SERVED_BY",
    "Options",
    "require_fitting",
    "require_plain",
    "require_root",
]


@dataclass(frozen=True, slots=True)
class Options:
    """What only some algorithms can be asked for; None is not asked."""

    trees_per_root: int | None = None
    max_gap: Fraction | int | None = None
    root: NodeId | None = None
    shards: Mapping[NodeId, int] | None = None
    participants: Collection[NodeId] | None = None
    max_chunks: int | None = None
    steps: int | None = None
    max_height: int | None = None

    @property
    def of_forests(self) -> bool:
        """Whether something is asked for that only forestcoll takes.

        >>> Options(max_chunks=1).of_forests, Options(max_gap=0).of_forests
        (False, True)
        """
        names = (option.name for option in fields(self) if option.name not in SERVED_BY)
        return any(getattr(self, name) is not None for name in names)

    @property
    def of_passes_apart(self) -> bool:
        """Whether an allreduce is asked for that runs its passes one after the other.

        A number of trees, a gap to it, their height and the shards are those of each pass by
        itself.
        """
        own = (self.trees_per_root, self.max_gap, self.shards, self.max_height)
        return any(part is not None for part in own)


NOTHING_ASKED = Options()
"""What an algorithm does by itself."""

SERVED_BY: Mapping[str, tuple[str, ...]] = MappingProxyType(
    {
        "max_chunks": ("bfb", "slack", "bfb-one-shot", "slack-one-shot"),
        "steps": ("slack", "slack-one-shot"),
    }
)
"""Options that other algorithms than forestcoll take, and which; forestcoll takes the rest."""


def require_root(wanted: Collective, root: NodeId | None, shards: object) -> None:
    """Raise NoSchedule unless a root is given where it has a meaning, and nowhere else."""
    if wanted.has_root:
        if root is None:
            raise NoSchedule("/root", f"must name the compute node that is the {wanted}'s root")
        if shards is not None:
            raise NoSchedule("/shards", f"must not be given: a {wanted} has one root")
    elif root is not None:
        raise NoSchedule("/root", "is for broadcast and reduce only")


def require_fitting(algorithm: str, options: Options) -> None:
    """Raise NoSchedule if something is asked for that only another algorithm knows.

    >>> require_fitting("bfb", Options(trees_per_root=2))
    Traceback (most recent call last):
    ...
    topoloom.schedules.errors.NoSchedule: /trees_per_root: is for the algorithm forestcoll only
    """
    for option in fields(options):
        served = SERVED_BY.get(option.name, ("forestcoll",))
        if getattr(options, option.name) is not None and algorithm not in served:
            only = " and ".join(served)
            raise NoSchedule(f"/{option.name}", f"is for the algorithm {only} only")


def require_plain(options: Options) -> None:
    """Raise NoSchedule if anything is asked for: all-to-all knows no options.

    >>> require_plain(Options(root=3))
    Traceback (most recent call last):
    ...
    topoloom.schedules.errors.NoSchedule: /root: is not for all-to-all
    """
    for option in fields(options):
        if getattr(options, option.name) is not None:
            raise NoSchedule(f"/{option.name}", "is not for all-to-all")
