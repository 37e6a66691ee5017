"""Removal of unneeded capacity at switches: steps taken at once leave what single steps leave."""

import random

import numpy as np
import pytest

from topoloom.schedules.trees.switch_removal.edge_splitting import Splitter
from topoloom.schedules.trees.switch_removal.optimistic_splitting import OptimisticSplits, Pair


class _StepByStep(Splitter):
    def _repeat(
        self, splits: OptimisticSplits, former: dict[Pair, int], lowered: dict[Pair, int]
    ) -> None:
        pass


def rails(rng: random.Random) -> dict[Pair, int]:
    """Return four ranks on two rails below a spine, with unequal links."""
    capacities = {(4, 6): 90, (6, 4): 90, (5, 6): 90, (6, 5): 90}
    for rank in range(4):
        for rail in (4, 5):
            capacities |= {(rank, rail): rng.randint(8, 12), (rail, rank): rng.randint(8, 12)}
    return capacities


@pytest.mark.parametrize("seed", range(12))
def test_an_excess_between_two_switches_is_removed_at_once(seed: int) -> None:
    capacities = rails(random.Random(seed))
    shares = np.array([4, 4, 4, 4, 0, 0, 0])
    kinds = (Splitter, _StepByStep)
    made = [kind(capacities, np.arange(4), shares, 4, range(7)) for kind in kinds]
    assert made[0].trim() == made[1].trim()
    assert made[0].capacities == made[1].capacities
