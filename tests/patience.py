"""How long a test may wait on a machine that does other work, too."""

import time
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from topoloom.app.jobs.facade import Jobs
    from topoloom.app.jobs.model import Job, JobId


def slowdown() -> float:
    """Return how many times longer a computation takes now than on an idle core, at least 1."""
    wall, processor = time.monotonic(), time.process_time()
    while time.process_time() - processor < 0.1:
        pass
    return max(1.0, (time.monotonic() - wall) / 0.1)


def ended_job(jobs: "Jobs", job: "JobId", seconds: float = 100) -> "Job":
    """Return a job when it has ended, or as it stands after so long."""
    end = time.monotonic() + seconds
    while not (found := jobs.state(job)).state.ended and time.monotonic() < end:
        time.sleep(0.1)
    return found
