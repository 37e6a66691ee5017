"""What can be asked of the generators of schedules, and which of them knows what."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass, fields
from fractions import Fraction

from schedules.errors import NoSchedule
from schedules.model import Collective
from synth.topology import NodeId

__all__ = ["BFB_ONLY", "Options", "require_fitting", "require_plain", "require_root"]


@dataclass(frozen=True, slots=True)
class Options:
    """What only some algorithms can be asked for; None is not asked."""

    trees_per_root: int | None = None
    max_gap: Fraction | int | None = None
    root: NodeId | None = None
    shards: Mapping[NodeId, int] | None = None
    participants: Collection[NodeId] | None = None
    max_chunks: int | None = None


BFB_ONLY = frozenset({"max_chunks"})
"""Options of bfb; all others are of forestcoll."""


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
    schedules.errors.NoSchedule: /trees_per_root: is for the algorithm forestcoll only
    """
    for option in fields(options):
        only = "bfb" if option.name in BFB_ONLY else "forestcoll"
        if getattr(options, option.name) is not None and algorithm != only:
            raise NoSchedule(f"/{option.name}", f"is for the algorithm {only} only")


def require_plain(options: Options) -> None:
    """Raise NoSchedule if anything is asked for: all-to-all knows no options.

    >>> require_plain(Options(root=3))
    Traceback (most recent call last):
    ...
    schedules.errors.NoSchedule: /root: is not for all-to-all
    """
    for option in fields(options):
        if getattr(options, option.name) is not None:
            raise NoSchedule(f"/{option.name}", "is not for all-to-all")
