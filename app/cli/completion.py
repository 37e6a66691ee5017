"""Shell completion of families, presets, fabrics, choices and stored names.

Each function takes the typed prefix of a word.  Imports are local, for a short response time, and
no function raises for bad input.
"""

from collections.abc import Callable, Iterable

_MOST = 200


def among(words: Iterable[str]) -> Callable[[str], list[str]]:
    """Return the completion function for a set of words.

    >>> among(["json", "csv"])("j")
    ['json']
    """
    known = tuple(words)

    def complete(incomplete: str) -> list[str]:
        return [word for word in known if word.startswith(incomplete)]

    return complete


def families(incomplete: str) -> list[str]:
    """Complete the name of a family of bases."""
    from topoloom.synth.families import FAMILIES

    return among(member.__name__ for member in FAMILIES)(incomplete)


def presets(incomplete: str) -> list[str]:
    """Complete the name of a preset workload."""
    from topoloom.schedules.workloads.presets import PRESETS

    return among(PRESETS)(incomplete)


def sources(incomplete: str) -> list[str]:
    """Complete FILE_OR_RECIPE: a fabric, a family, or the short name of a stored topology."""
    from topoloom.app.cli.stored_names import newest
    from topoloom.synth.fabrics import FABRICS

    fabrics = among(FABRICS)(incomplete)
    bases = [f"{name}(" for name in families(incomplete)]
    return [*fabrics, *bases, *among(newest(_MOST))(incomplete)]
