"""The name of the bound that a design is compared with, on the terminal and in pictures."""

from collections.abc import Iterable


def bound_name(collectives: Iterable[str]) -> str:
    """Return the name of the bound: an allreduce in one pass may take less than in two passes.

    >>> bound_name(["allgather"]), bound_name(["allgather", "allreduce"])
    ('lower bound', 'bound of two passes')
    """
    return "bound of two passes" if "allreduce" in set(collectives) else "lower bound"
