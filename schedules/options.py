"""Options of schedule generators, and the algorithms that support each option."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass, fields
from fractions import Fraction
from types import MappingProxyType

from topoloom.schedules.errors import NoSchedule
from topoloom.schedules.model.schedule import Collective
from topoloom.synth.topology.topology import NodeId


@dataclass(frozen=True, slots=True)
class Options:
    """Options that only some algorithms support; None is the algorithm's default."""

    trees_per_root: int | None = None
    max_gap: Fraction | int | None = None
    root: NodeId | None = None
    shards: Mapping[NodeId, int] | None = None
    participants: Collection[NodeId] | None = None
    max_chunks: int | None = None
    steps: int | None = None
    max_height: int | None = None

    @property
    def forestcoll_only(self) -> bool:
        """Whether an option is set that only forestcoll supports.

        >>> Options(max_chunks=1).forestcoll_only, Options(max_gap=0).forestcoll_only
        (False, True)
        """
        names = (option.name for option in fields(self) if option.name not in SERVED_BY)
        return any(getattr(self, name) is not None for name in names)

    @property
    def requires_sequence(self) -> bool:
        """Whether an option requires an allreduce to run its two passes one after the other.

        The number of trees, the gap, the height and the shards apply to each pass by itself.
        """
        own = (self.trees_per_root, self.max_gap, self.shards, self.max_height)
        return any(part is not None for part in own)


DEFAULT_OPTIONS = Options()
"""The defaults of every algorithm."""

SERVED_BY: Mapping[str, tuple[str, ...]] = MappingProxyType(
    {
        "max_chunks": ("bfb", "slack", "bfb-one-shot", "slack-one-shot"),
        "steps": ("slack", "slack-one-shot"),
    }
)
"""Options and the algorithms that support them; other options are for forestcoll only."""


def require_root(wanted: Collective, root: NodeId | None, shards: object) -> None:
    """Raise NoSchedule unless the root is present exactly where the collective has one."""
    if wanted.has_root:
        if root is None:
            raise NoSchedule("/root", f"must name the compute node that is the {wanted}'s root")
        if shards is not None:
            raise NoSchedule("/shards", f"must not be given: a {wanted} has one root")
    elif root is not None:
        raise NoSchedule("/root", "is for broadcast and reduce only")


def require_supported(algorithm: str, options: Options) -> None:
    """Raise NoSchedule if an option is set that the algorithm does not support.

    >>> require_supported("bfb", Options(trees_per_root=2))
    Traceback (most recent call last):
    ...
    topoloom.schedules.errors.NoSchedule: /trees_per_root: is for the algorithm forestcoll only
    """
    for option in fields(options):
        served = SERVED_BY.get(option.name, ("forestcoll",))
        if getattr(options, option.name) is not None and algorithm not in served:
            only = " and ".join(served)
            raise NoSchedule(f"/{option.name}", f"is for the algorithm {only} only")


def require_no_options(options: Options) -> None:
    """Raise NoSchedule if any option is set: all-to-all supports none.

    >>> require_no_options(Options(root=3))
    Traceback (most recent call last):
    ...
    topoloom.schedules.errors.NoSchedule: /root: is not for all-to-all
    """
    for option in fields(options):
        if getattr(options, option.name) is not None:
            raise NoSchedule(f"/{option.name}", "is not for all-to-all")
