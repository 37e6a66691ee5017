"""Two answers to a loss that is flat early in the run: the untrained model, or waiting.

    python -m benchmarks.learning_rate.flat_starts --seeds 2 --processes 2

The tuner compares the model with the untrained one (*compare*,
`learning_rate.state_machine.flat_starts`); *wait* leaves this out.  The trainings are those of
`benchmarks.learning_rate.flat_tasks`.
"""

from itertools import product
from multiprocessing import Pool

import torch

from benchmarks.learning_rate.arguments import parser_of
from benchmarks.learning_rate.early_rises import WAIT, WAYS, trained
from benchmarks.learning_rate.flat_tasks import LATER, NEVER

SETTINGS = NEVER | LATER


def final(key: tuple[str, int, str, int]) -> float:
    """Return the validation loss at the end of a run: a setting, a seed, a way, steps."""
    name, seed, way, steps = key
    torch.set_num_threads(1)
    return trained(SETTINGS[name], 1.0, seed, steps, way)[0]


def main() -> None:
    arguments = parser_of(__doc__, "--settings", SETTINGS, 2).parse_args()
    names, seeds, steps = list[str](arguments.settings), int(arguments.seeds), int(arguments.steps)
    ways = (WAYS[0], WAIT)
    keys = [(name, seed, way, steps) for name, way, seed in product(names, ways, range(seeds))]
    print("| setting | rate | compare | wait |\n|---|---|---|---|")
    with Pool(arguments.processes) as pool:
        found = pool.imap(final, keys, chunksize=1)
        for name in names:
            ends = [" ".join(f"{next(found):.4f}" for _ in range(seeds)) for _ in ways]
            print(f"| {name} | {SETTINGS[name].rate:.2g} | " + " | ".join(ends) + " |", flush=True)


if __name__ == "__main__":
    main()
