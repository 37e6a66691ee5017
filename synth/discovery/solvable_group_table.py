"""Table of the solvable groups of small orders, `solvable.tsv`.

A line has the order and the numbers of a `Polycyclic`, as in `CayleyPolycyclic`: the number of
generators, their orders, then the relations.  Written by

    python -m topoloom.synth.discovery.solvable_group_table

from `synth.algebra.solvable_groups` in about five minutes of CPU time.  The table omits orders at
which the enumeration takes longer or is incomplete because a subgroup has too many automorphisms.
"""

from collections.abc import Iterator
from functools import lru_cache
from pathlib import Path

TABLE = Path(__file__).with_name("solvable.tsv")
ORDERS = tuple(order for order in range(2, 216) if order not in (64, 128, 160, 162, 192))


@lru_cache(maxsize=1)
def _by_order() -> dict[int, list[str]]:
    found: dict[int, list[str]] = {}
    for line in TABLE.read_text().splitlines():
        order, _, numbers = line.partition("\t")
        found.setdefault(int(order), []).append(numbers)
    return found


@lru_cache(maxsize=8)
def tabulated_groups(order: int) -> tuple[tuple[int, ...], ...]:
    """Return the numbers of all solvable groups of an order; empty for orders not in the table.

    >>> from topoloom.synth.algebra.polycyclic import Polycyclic
    >>> for numbers in tabulated_groups(6):
    ...     print(Polycyclic.read(numbers)[0])
    Polycyclic(orders=(3, 2), relations=((0, 1),))
    Polycyclic(orders=(3, 2), relations=((0, 2),))
    """
    texts = _by_order().get(order, [])
    return tuple(tuple(int(number) for number in text.split()) for text in texts)


def table_lines() -> Iterator[str]:
    """Yield the lines of the file."""
    # Imports SciPy (a third of a second), which readers of the table do not need.
    from topoloom.synth.algebra.solvable_groups import solvable_groups

    for order in ORDERS:
        for one in solvable_groups(order):
            yield "\t".join([str(order), " ".join(map(str, one.group.numbers))])


if __name__ == "__main__":
    with TABLE.open("w") as file:
        for line in table_lines():
            print(line, file=file)
