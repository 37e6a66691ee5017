"""Answers stay quick beside a greedy client: turns, accepts, garbage, the time slice."""

import asyncio
import gc
import os
import socket
import sys
import threading
import weakref
from contextlib import ExitStack
from pathlib import Path

import pytest
import uvicorn
from hypothesis import given, settings
from hypothesis import strategies as st

from topoloom.app.api import garbage
from topoloom.app.api.request_dispatcher import FairLimiter
from topoloom.app.api.server import ACCEPTS, GracefulServer
from topoloom.app.api.time_slice import SLICE_NANOSECONDS, interrupt_workers

OWNERS = st.lists(st.sampled_from("abcd"), min_size=1, max_size=40)


async def held(limiter, owner, begun):
    async with limiter.slot(owner):
        begun.append(owner)
        await asyncio.sleep(0)


@settings(deadline=None)
@given(slots=st.integers(1, 4), owners=OWNERS)
def test_owners_that_wait_get_slots_in_turn(slots, owners):
    begun = []

    async def all_held():
        limiter = FairLimiter(slots)
        await asyncio.gather(*(held(limiter, owner, begun) for owner in owners))

    asyncio.run(all_held())
    assert sorted(begun) == sorted(owners)
    waited = begun[slots:]
    for position in range(len(waited)):
        given_to = [waited[:position].count(owner) for owner in set(waited[position:])]
        assert max(given_to) - min(given_to) <= 1


@settings(deadline=None)
@given(slots=st.integers(1, 4), owners=OWNERS, steps=st.lists(st.integers(0, 39), max_size=40))
def test_requests_that_end_while_they_wait_lose_no_slot(slots, owners, steps):
    """Each step cancels a request, waiting or running, and lets the others run."""

    async def cancelled():
        limiter = FairLimiter(slots)
        tasks = [asyncio.ensure_future(held(limiter, owner, [])) for owner in owners]
        for number in steps:
            await asyncio.sleep(0)
            tasks[number % len(tasks)].cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        begun, end = [], asyncio.Event()

        async def until_the_end():
            async with limiter.slot("last"):
                begun.append(1)
                await end.wait()

        last = [asyncio.ensure_future(until_the_end()) for _ in range(slots + 1)]
        for _ in range(3):
            await asyncio.sleep(0)
        found = len(begun)
        end.set()
        await asyncio.gather(*last)
        return found

    assert asyncio.run(cancelled()) == slots


def test_a_storm_of_connections_is_accepted_in_few_iterations_of_the_loop():
    uvloop = pytest.importorskip("uvloop")
    storm, made = 8 * ACCEPTS, []

    class Counted(asyncio.Protocol):
        def __init__(self, **given):
            pass

        def connection_made(self, transport):
            made.append(transport)

    async def iterations():
        config = uvicorn.Config(lambda: None, port=0, http=Counted, lifespan="off", log_config=None)
        config.load()
        server = GracefulServer(config)
        server.lifespan = config.lifespan_class(config)
        await server.startup()
        port = server.servers[0].sockets[0].getsockname()[1]
        with ExitStack() as stack:
            for _ in range(storm):
                stack.enter_context(socket.create_connection(("127.0.0.1", port)))
            count = 0
            while len(made) < storm:
                await asyncio.sleep(0)
                count += 1
            for transport in made:
                transport.abort()
            for one in server.servers:
                one.close()
            return count

    assert uvloop.run(iterations()) <= storm // 2


@pytest.mark.skipif(sys.platform != "linux", reason="the system has no such slice")
def test_a_thread_that_answers_has_a_short_slice():
    """Of Linux 6.12 on; /proc tells the slice in nanoseconds where the kernel has it."""
    told = []

    def slices():
        done = interrupt_workers()
        text = Path(f"/proc/self/task/{threading.get_native_id()}/sched").read_text()
        found = [line.split(":")[1] for line in text.splitlines() if line.startswith("se.slice")]
        told.append((done, os.getpriority(os.PRIO_PROCESS, 0), *map(int, found)))

    before = os.getpriority(os.PRIO_PROCESS, 0)
    thread = threading.Thread(target=slices)
    thread.start()
    thread.join()
    done, niceness, *found = told[0]
    assert niceness == before
    if done and tuple(map(int, os.uname().release.split(".")[:2])) >= (6, 12):
        assert found in ([], [SLICE_NANOSECONDS])


class Cycle:
    def __init__(self):
        self.itself = self


@pytest.fixture
def collecting():
    thresholds = gc.get_threshold()
    yield
    gc.set_threshold(*thresholds)


def test_young_objects_are_collected_while_they_replace_others(collecting):
    """Python alone counts as many freed objects as new ones, and never collects."""
    young = []

    async def replaced():
        garbage.collect_often()
        others = [[] for _ in range(1000)]
        gc.callbacks.append(lambda phase, info: young.append(len(gc.get_objects(0))))
        try:
            async with asyncio.timeout(30):
                for number in range(10**9):
                    others[number % 1000] = []
                    if number % 10 == 0:
                        await asyncio.sleep(0.001)
                    if len(young) > 8:
                        break
        finally:
            gc.callbacks.pop()

    asyncio.run(replaced())
    assert max(young[1:]) < garbage.YOUNG_OBJECTS


@pytest.mark.parametrize("age", [0, 1, 2])
def test_garbage_of_every_age_is_collected(age, collecting, monkeypatch):
    monkeypatch.setattr(garbage, "COLLECT_EVERY", 0.001)
    monkeypatch.setattr(garbage, "OLDER_EVERY", 3)
    monkeypatch.setattr(garbage, "ALL_EVERY", 9)

    async def freed():
        garbage.collect_often()
        cycle = Cycle()
        for generation in range(age):
            gc.collect(generation)
        assert any(one is cycle for one in gc.get_objects(age))
        seen = weakref.ref(cycle)
        del cycle
        async with asyncio.timeout(30):
            while seen() is not None:
                await asyncio.sleep(0.001)

    asyncio.run(freed())
