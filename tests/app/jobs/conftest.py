"""Fixtures: a queue, work that waits for the test, and workers."""

import pytest

from tests.app.jobs.work import LIMITS, Work, until
from topoloom.app.api.problems import problem_document
from topoloom.app.jobs.facade import Jobs
from topoloom.app.jobs.worker import Worker


@pytest.fixture
def jobs(engine):
    return Jobs(engine)


@pytest.fixture
def work():
    return Work()


@pytest.fixture
def started_on(work):
    """Start workers in this process, one after the other, and stop what still runs."""
    running = []

    def start(engine, limits=LIMITS):
        explain = lambda error, path: problem_document(error, path).model_dump()  # noqa: E731
        worker = Worker(engine, work, explain, limits)
        worker.start()
        running.append(worker)
        return worker

    yield start
    for worker in running:
        worker.stop()
        # Its threads end before the database is closed, however slow the machine is.
        worker._loop.join(100)
        until(lambda worker=worker: not worker._running())


@pytest.fixture
def started(engine, started_on):
    """Start workers on the database of the test."""
    return lambda limits=LIMITS: started_on(engine, limits)
