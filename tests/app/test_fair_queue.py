"""The first requests of new connections: addresses take turns, and a flood delays nobody else."""

import asyncio
from collections import Counter
from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from topoloom.app.api.fair_queue import FairQueue

floods = st.lists(st.sampled_from("abcdef"), min_size=1, max_size=60)


def served(waiting, later=(), after=0, fails=frozenset()):
    """Return the addresses in the order of their callbacks.

    Those of ``later`` are added after a number of callbacks; those of ``fails`` raise an error.
    """

    async def serve():
        queue, order = FairQueue(), []
        asyncio.get_running_loop().set_exception_handler(lambda loop, context: None)

        def add(address):
            def callback():
                order.append(address)
                if len(order) == after:
                    for one in later:
                        add(one)
                if address in fails:
                    raise RuntimeError("no answer")

            queue.add(address, callback)

        for address in waiting:
            add(address)
        async with asyncio.timeout(30):
            while len(order) < len(waiting) + len(later):
                await asyncio.sleep(0)
        return order

    return asyncio.run(serve())


@given(floods, st.sets(st.sampled_from("abcdef")))
def test_every_callback_is_called_once_though_others_fail(waiting, fails):
    assert Counter(served(waiting, fails=fails)) == Counter(waiting)


@given(floods)
def test_addresses_with_a_backlog_have_one_turn_in_each_round(waiting):
    order = served(waiting)
    begun = max(order.index(address) for address in waiting)
    for address in set(waiting):
        turns = [place for place, one in enumerate(order) if one == address and place >= begun]
        for this, following in pairwise(turns):
            between = Counter(order[this + 1 : following])
            assert all(between[other] == 1 for other in {*order[following:]} - {address})


@given(st.sets(st.sampled_from("abcdef"), min_size=1), st.integers(2, 9), st.data())
def test_a_new_address_does_not_wait_for_all_that_have_a_backlog(addresses, each, data):
    waiting = sorted(addresses) * each
    after = data.draw(st.integers(1, len(waiting) - 1))
    waits_with = set(waiting) - set(served(waiting)[:after])
    order = served(waiting, later="z", after=after)
    assert order[after:].index("z") <= 1 + 2 * len(waits_with)


def test_ever_new_addresses_do_not_stop_those_that_have_a_backlog():
    assert served("a" * 9, later="BCDEFGHIJKLMNOPQRSTU", after=1)[1:17:2] == ["a"] * 8


def test_a_new_address_with_a_flood_goes_first_only_once():
    assert served("ab" * 9, later="zzz", after=4)[4:11] == [*"zbazbaz"]
