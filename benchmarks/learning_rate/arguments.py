"""The options that comparisons of trainings share."""

from argparse import ArgumentParser
from collections.abc import Iterable


def parser_of(doc: str | None, chosen: str, names: Iterable[str], seeds: int) -> ArgumentParser:
    """Return a parser of steps, seeds, processes, and the names of trainings.

    Args:
        doc: The docstring of the program.
        chosen: Name of the option that takes names.
        names: All names, the default.
        seeds: Default number of seeds.
    """
    parser = ArgumentParser(description=(doc or "").partition("\n")[0])
    parser.add_argument("--steps", type=int, default=1000)
    parser.add_argument("--seeds", type=int, default=seeds)
    parser.add_argument("--processes", type=int, default=1)
    parser.add_argument(chosen, nargs="+", choices=list(names), default=list(names))
    return parser
