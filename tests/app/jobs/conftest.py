"""Fixtures: a queue, work that waits for the test, and workers."""

import pytest

from tests.app.jobs.work import LIMITS, Work
from topoloom.app.api.problems import described
from topoloom.app.jobs.facade import Jobs
from topoloom.app.jobs.webhooks.messenger import Messenger
from topoloom.app.jobs.webhooks.targets import WebhookRules
from topoloom.app.jobs.worker import Worker


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
