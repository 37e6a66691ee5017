"""How long a test may wait on a machine that does other work, too."""

import time


def slowdown() -> float:
    """Return how many times longer a computation takes now than on an idle core, at least 1."""
    wall, processor = time.monotonic(), time.process_time()
    while time.process_time() - processor < 0.1:
        pass
    return max(1.0, (time.monotonic() - wall) / 0.1)
