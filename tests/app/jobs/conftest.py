"""Fixtures: a queue, work that waits for the test, and workers."""

import pytest

from app.jobs.port import Jobs
from app.jobs.webhooks import Messenger, WebhookRules
from app.jobs.worker import Worker
from app.problems import described
from tests.app.jobs.work import LIMITS, Work


@pytest.fixture
def jobs(engine):
    opened = Jobs(engine)
    yield opened
    opened.close()


@pytest.fixture
def work():
    return Work()


@pytest.fixture
def started(engine, work):
    """Start workers in this process, one after the other, and stop what still runs."""
    running = []

    def start(limits=LIMITS):
        rules = WebhookRules()
        worker = Worker(
            engine,
            work,
            lambda error, path: described(error, path).model_dump(),
            limits,
            Messenger(rules, lambda job: b"{}"),
        )
        worker.start()
        running.append(worker)
        return worker

    yield start
    for worker in running:
        worker.stop()
