"""How owners share the slots of computations: turns, limits, slots taken back, what ends work."""

import asyncio
from contextlib import ExitStack
from threading import Event

import pytest
from fastapi import Request

from topoloom.app.api import computation_queue
from topoloom.app.api.computation_queue import RESERVE, ComputationQueue
from topoloom.app.jobs.worker_pool.errors import Busy, Cancelled, TooManyWaiting
from topoloom.app.jobs.worker_pool.pool import Done
from topoloom.app.jobs.worker_pool.task import Task
from topoloom.schedules.errors import TookTooLong


class Pool:
    """A pool whose computations end when the test says, or when they are cancelled."""

    def __init__(self):
        self.begun, self.finish, self.error = [], {}, None
        self.yielding = set()

    def run(self, task, cancelled, report=None, short_seconds=1.0):
        self.begun.append(task.operation)
        if short_seconds < 1:
            self.yielding.add(task.operation)
        finished = self.finish.setdefault(task.operation, Event())
        while not finished.wait(0.005):
            if cancelled.is_set():
                raise Cancelled
        if self.error is not None:
            raise self.error
        return Done({}, ())

    def end(self, name):
        self.finish.setdefault(name, Event()).set()


async def ignore(done):
    pass


async def until(condition):
    async with asyncio.timeout(60):
        while not condition():
            await asyncio.sleep(0.005)


@pytest.fixture
def pool():
    return Pool()


@pytest.fixture
def queue_of(pool, settings):
    """Return a function that makes a queue with these settings, inside of an event loop."""

    def make(**changes):
        return ComputationQueue(pool, settings.model_copy(update=changes))

    return make


def name_of(number):
    return Task.of(f"{number}", b"{}")


def ask(clients, queue, owner, *names):
    """Let an owner wait for computations until the block of the clients ends."""
    return [clients.enter_context(queue.joined(name_of(name), owner)) for name in names]


def test_owners_take_turns(pool, queue_of):
    async def run():
        queue = queue_of(max_working=1)
        with ExitStack() as clients:
            ask(clients, queue, "greedy", "g1", "g2", "g3")
            ask(clients, queue, "other", "o1")
            ask(clients, queue, "third", "t1")
            for name in ("g1", "o1", "t1", "g2", "g3"):
                await until(lambda name=name: name in pool.begun)
                pool.end(name)
            await until(lambda: not queue.running)
        queue.close()

    asyncio.run(run())
    assert pool.begun == ["g1", "o1", "t1", "g2", "g3"]


def test_an_owner_that_runs_nothing_waits_for_no_slot_of_a_greedy_owner(pool, queue_of):
    async def run():
        queue = queue_of(max_working=2)
        with ExitStack() as clients:
            ask(clients, queue, "greedy", "g1", "g2", "g3")
            ask(clients, queue, "other", "o1", "o2")
            ask(clients, queue, "third", "t1")
            await until(lambda: len(pool.begun) == 4)
            assert queue.running == 4 and queue.waiting == 2
            # The slots of one owner come first: a second computation of an owner waits for these.
            for name in ("o1", "t1"):
                pool.end(name)
            await until(lambda: queue.running == 3)
            pool.end("g1")
            await until(lambda: len(pool.begun) == 5)
        queue.close()

    asyncio.run(run())
    assert sorted(pool.begun[:4]) == ["g1", "g2", "o1", "t1"] and pool.begun[4] == "o2"


def test_further_computations_of_an_owner_yield_to_those_of_others(pool, queue_of):
    async def run():
        queue = queue_of(max_working=3)
        with ExitStack() as clients:
            ask(clients, queue, "greedy", "g1", "g2", "g3")
            ask(clients, queue, "other", "o1")
            await until(lambda: len(pool.begun) == 4)
        queue.close()

    asyncio.run(run())
    assert pool.yielding == {"g2", "g3"}


@pytest.mark.parametrize("slots", [1, 2])
def test_a_long_computation_gives_its_slot_to_an_owner_that_runs_nothing(
    pool, queue_of, slots, monkeypatch
):
    monkeypatch.setattr(computation_queue, "SLICE_SECONDS", 0.05)
    greedy = [f"g{number}" for number in range(1, slots + 1)]
    others = [f"r{number}" for number in range(slots * (RESERVE - 1))]

    async def run():
        queue = queue_of(max_working=slots)
        with ExitStack() as clients:
            computations = ask(clients, queue, "greedy", *greedy)
            for name in others:
                computations += ask(clients, queue, name, name)
            await until(lambda: queue.running == RESERVE * slots)
            ask(clients, queue, "other", "o1")
            await until(lambda: "o1" in pool.begun)
            assert queue.waiting == 1
            for name in ("o1", *greedy, *others):
                pool.end(name)
            # The computation that lost its slot starts again, and ends.
            assert [await one.result for one in computations] == [Done({}, ())] * RESERVE * slots
        queue.close()

    asyncio.run(run())
    assert len(pool.begun) > RESERVE * slots + 1


def test_an_owner_keeps_its_slots_while_nobody_else_waits(pool, queue_of, monkeypatch):
    monkeypatch.setattr(computation_queue, "SLICE_SECONDS", 0.0)

    async def run():
        queue = queue_of(max_working=2)
        with ExitStack() as clients:
            ask(clients, queue, "greedy", "g1", "g2", "g3")
            ask(clients, queue, "greedy", "g4")
            await until(lambda: len(pool.begun) == 2)
            pool.end("g1")
            await until(lambda: len(pool.begun) == 3)
        queue.close()

    asyncio.run(run())
    assert pool.begun == ["g1", "g2", "g3"]


def test_the_greedy_owner_is_refused_before_the_service_is_full(pool, queue_of):
    async def run():
        queue = queue_of(max_working=1, max_waiting=3, max_waiting_per_owner=2)
        with ExitStack() as clients:
            ask(clients, queue, "greedy", "g1", "g2", "g3")
            with pytest.raises(TooManyWaiting):
                ask(clients, queue, "greedy", "g4")
            for name in [f"r{number}" for number in range(RESERVE - 1)] + ["last"]:
                ask(clients, queue, name, name)
            with pytest.raises(Busy):
                ask(clients, queue, "other", "o1")
            # An equal request needs no place in the line.
            ask(clients, queue, "other", "g3")
        queue.close()

    asyncio.run(run())


def test_an_equal_request_moves_a_computation_to_the_turn_of_its_owner(pool, queue_of):
    async def run():
        queue = queue_of(max_working=1)
        with ExitStack() as clients:
            ask(clients, queue, "greedy", "g1", "g2", "g3")
            ask(clients, queue, "other", "g3")
            for name in ("g1", "g3", "g2"):
                await until(lambda name=name: name in pool.begun)
                pool.end(name)
        queue.close()

    asyncio.run(run())
    assert pool.begun == ["g1", "g3", "g2"]


def test_the_last_client_that_leaves_ends_a_computation(pool, queue_of):
    async def run():
        queue = queue_of(max_working=1)
        with ExitStack() as first:
            with ExitStack() as second:
                (one,) = ask(first, queue, "first", "c1")
                ask(second, queue, "second", "c1")
                await until(lambda: queue.running)
            assert not one.cancelled.is_set()
        assert one.cancelled.is_set()
        await until(lambda: not queue.running)
        queue.close()

    asyncio.run(run())


def test_a_computation_that_a_job_follows_runs_until_the_job_ends(pool, queue_of):
    async def run():
        wanted = True

        async def is_wanted():
            return wanted

        queue = queue_of(max_working=1)
        with ExitStack() as clients:
            (one,) = ask(clients, queue, "owner", "c1")
            await until(lambda: queue.running)
            queue.follow(one, is_wanted, ignore, 0.01)
        await asyncio.sleep(0.05)
        assert queue.running == 1 and not one.cancelled.is_set()
        wanted = False
        await until(lambda: not queue.running)
        queue.close()

    asyncio.run(run())


def test_a_time_limit_is_no_answer_while_a_job_goes_on(pool, queue_of):
    async def forever():
        return {"type": await asyncio.Event().wait()}

    async def goes_on():
        return True

    async def run():
        queue = queue_of(max_working=2)
        with ExitStack() as clients:
            refused, followed = ask(clients, queue, "owner", "c1", "c2")
            queue.follow(followed, goes_on, ignore, 60)
            pool.error = TookTooLong("", "must be done sooner")
            pool.end("c1")
            pool.end("c2")
            client = Request({"type": "http"}, forever)
            with pytest.raises(TookTooLong):
                await queue.completed(refused, client)
            assert await queue.completed(followed, client) is None
        queue.close()

    asyncio.run(run())
