"""What the jobs of these tests consist of, and how long is waited for them."""

import time
from threading import Event, Lock

from topoloom.app.jobs.model import Cancelled, Task
from topoloom.app.jobs.worker import WorkerLimits

LIMITS = WorkerLimits(concurrency=2, running_of_owner=16, keep_days=30)


class Work:
    """Carries tasks out as the test says: what it was given, and when it may go on."""

    def __init__(self):
        self.begun, self.lock, self.release = [], Lock(), Event()
        self.resumed = []
        self.error = None

    def __call__(self, task, reporting):
        with self.lock:
            self.begun.append(task)
            self.resumed.append(reporting.is_resumed)
        reporting.progress(0.5, "half way")
        while not self.release.wait(0.02):
            if reporting.cancelled():
                raise Cancelled
        if self.error is not None:
            raise self.error


def task(number=0, operation="design"):
    return Task.of(operation, {"number": number})


def until(condition, seconds=100):
    end = time.monotonic() + seconds
    while not (found := condition()):
        assert time.monotonic() < end
        time.sleep(0.02)
    return found
