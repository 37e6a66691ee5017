"""The next job: which one it is, and that one worker has it."""

from concurrent.futures import ThreadPoolExecutor

from tests.app.jobs.work import task
from topoloom.app.jobs import transitions
from topoloom.app.jobs.model import State


def taken(engine, count, most_of_owner=16):
    """Take jobs; return their requests."""
    found = (transitions.take(engine, "worker", most_of_owner) for _ in range(count))
    return [None if one is None else one[1].body for one in found]


def requests(*numbers):
    return [None if number is None else task(number).body for number in numbers]


def test_owners_take_turns(engine, jobs):
    for number in range(3):
        jobs.enqueue(task(number), owner="ann")
    for number in range(3, 5):
        jobs.enqueue(task(number), owner="bob")
    jobs.enqueue(task(5), owner="cy")
    assert taken(engine, 7) == requests(0, 3, 5, 1, 4, 2, None)


def test_owners_take_turns_also_where_one_job_runs_at_a_time(engine, jobs):
    for number in range(3):
        jobs.enqueue(task(number), owner="ann")
    jobs.enqueue(task(3), owner="bob")
    order = []
    for _ in range(4):
        held, one = transitions.take(engine, "worker", 16)
        transitions.finish(engine, held, State.DONE, made=one.identity)
        order.append(one.body)
    assert order == requests(0, 3, 1, 2)


def test_of_one_owner_the_most_urgent_and_then_the_oldest_goes_first(engine, jobs):
    for number, priority in enumerate((500, 100, 1, 100)):
        jobs.enqueue(task(number), priority=priority)
    assert taken(engine, 4) == requests(2, 1, 3, 0)


def test_an_owner_at_the_limit_is_skipped(engine, jobs):
    for number in range(3):
        jobs.enqueue(task(number), owner="ann")
    jobs.enqueue(task(3), owner="bob")
    assert taken(engine, 4, most_of_owner=1) == requests(0, 3, None, None)


def test_many_workers_take_every_job_once_and_within_the_limit_of_an_owner(engine, jobs):
    made = [jobs.enqueue(task(number), owner="ann") for number in range(12)]
    with ThreadPoolExecutor(8) as pool:
        found = list(pool.map(lambda name: transitions.take(engine, str(name), 8), range(24)))
    held = [one[0].id for one in found if one is not None]
    assert len(held) == len(set(held)) == 8
    assert set(held) <= set(made)


def test_a_whole_is_taken_when_its_parts_have_ended(engine, jobs):
    whole = jobs.enqueue(task(), parts=[task(1, "frontier")])
    held, part = transitions.take(engine, "worker", 16)
    assert part == task(1, "frontier")
    assert jobs.state(whole).state is State.RUNNING
    assert transitions.take(engine, "worker", 16) is None
    transitions.finish(engine, held, State.DONE, made=part.identity)
    assert transitions.take(engine, "worker", 16)[0].id == whole


def test_the_next_job_is_found_by_the_index_of_jobs_that_may_begin(engine, jobs):
    """Ten thousand waiting jobs delay no worker."""
    query = transitions._following(16).compile(engine, compile_kwargs={"literal_binds": True})
    explain = "EXPLAIN QUERY PLAN" if engine.dialect.name == "sqlite" else "EXPLAIN"
    with engine.connect() as connection:
        if engine.dialect.name == "postgresql":
            connection.exec_driver_sql("SET enable_seqscan = off")
        plan = connection.exec_driver_sql(f"{explain} {query}").all()
    assert sum("ix_jobs_due" in str(line) for line in plan) >= 2
