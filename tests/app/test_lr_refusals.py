"""What a session of tuned learning rates refuses, by field, and unharmed."""

import pytest

from tests.app.lr_jobs import ASKED, PLACE, STEPS, Job, unharmed

pytest.importorskip("sklearn", reason="the extra `tune` is not installed")


@pytest.fixture
def job(client):
    return Job(client)


def test_a_gap_is_a_conflict_that_names_the_next_number(job):
    job.train(4)
    told = unharmed(job, lambda: job.post([1.0], sequence=6), 409, "out-of-sequence", "/sequence")
    assert "must be 5: 4 is the last known" in told
    unharmed(job, lambda: job.post([99.0], sequence=4), 409, "out-of-sequence", "/sequence")


@pytest.mark.parametrize(
    ("body", "kind", "pointer"),
    [
        ({"losses": ["2.5"]}, "invalid-request", "/losses/0"),
        ({"losses": [1.0, True]}, "invalid-request", "/losses/1"),
        ({"losses": [None]}, "invalid-request", "/losses/0"),
        ({"losses": "2.5"}, "invalid-request", "/losses"),
        ({"losses": [1.0] * 4097}, "invalid-request", "/losses"),
        ({"losses": [1.0] * 999}, "invalid-observation", "/losses"),
        ({"losses": [1.0]}, "invalid-observation", "/losses"),
        ({"unsolicited": True}, "invalid-observation", "/losses"),
        ({"unsolicited": 1}, "invalid-request", "/unsolicited"),
        ({"sequence": "1"}, "invalid-request", "/sequence"),
        ({"sequence": 0}, "invalid-request", "/sequence"),
        ({"loss": 1.0}, "invalid-request", "/loss"),
    ],
)
def test_a_wrong_observation_is_refused_by_field_and_the_state_is_unharmed(
    job, body, kind, pointer
):
    def ask():
        whole = {"lease": job.lease, "sequence": 1, "losses": []} | body
        return job.client.post(f"{job.place}/observations", json=whole)

    unharmed(job, ask, 422, kind, pointer)


@pytest.mark.parametrize(
    ("body", "status", "kind", "pointer"),
    [
        ({"total_steps": 10**8 + 1}, 422, "invalid-request", "/total_steps"),
        ({"total_steps": "900"}, 422, "invalid-request", "/total_steps"),
        ({"total_steps": 2_000_000}, 422, "too-large", "/total_steps"),
        ({"total_steps": 1}, 422, "invalid-request", "/total_steps"),
        ({"sequence": 9}, 409, "out-of-sequence", "/sequence"),
        ({"lease": "another"}, 409, "leased", "/lease"),
        ({"losses": []}, 422, "invalid-request", "/losses"),
    ],
)
def test_a_wrong_extension_is_refused_by_field_and_the_state_is_unharmed(
    job, body, status, kind, pointer
):
    unharmed(job, lambda: job.extend(**body), status, kind, pointer)


@pytest.mark.one_in(4)
@pytest.mark.parametrize(
    ("asked", "pointer"),
    [
        ({"min_lr": 2.0}, "/min_lr"),
        ({"min_lr": 0}, "/min_lr"),
        ({"max_lr": "1"}, "/max_lr"),
        ({"total_steps": 0}, "/total_steps"),
        ({"total_steps": 2_000_000}, "/total_steps"),
        ({"total_steps": 10**8 + 1}, "/total_steps"),
        ({"candidates": 1}, "/candidates"),
        ({"method": "magic"}, "/method"),
        ({"max_overhead": "much"}, "/max_overhead"),
        ({"max_overhead": -1}, "/max_overhead"),
        ({"tau_min": 500, "tau_max": 100}, "/tau_max"),
        ({"warmup_steps": STEPS}, "/warmup_steps"),
        ({"name": "x" * 81}, "/name"),
        ({"rate": 1}, "/rate"),
    ],
)
def test_an_option_outside_its_domain_is_named(client, asked, pointer):
    answer = client.post(PLACE, json=ASKED | asked)
    assert answer.status_code == 422
    assert [one["pointer"] for one in answer.json()["errors"]] == [pointer]
    assert client.get(PLACE).json() == {"items": [], "next_cursor": None}


def test_a_cancelled_session_takes_nothing_more(job):
    job.train(3)
    answer = job.client.post(f"{job.place}/cancel")
    assert (answer.status_code, answer.json()["state"]) == (200, "cancelled")
    assert job.client.post(f"{job.place}/cancel").json() == answer.json()
    unharmed(job, lambda: job.post([1.0]), 409, "ended", "/id")
    body = {"lease": job.lease}
    unharmed(job, lambda: job.client.post(f"{job.place}/lease", json=body), 409, "ended", "/id")


@pytest.mark.slow
def test_a_finished_session_takes_nothing_more(job):
    job.train()
    unharmed(job, lambda: job.post([1.0]), 409, "ended", "/id")
    unharmed(job, lambda: job.client.post(f"{job.place}/cancel"), 409, "ended", "/id")


@pytest.mark.parametrize("name", ["a\nb", "a\x1b[2J", "a\u202eb"])
def test_a_name_that_is_not_printable_is_refused(client, name):
    refused = client.post(PLACE, json={**ASKED, "name": name})
    assert refused.status_code == 422
    [error] = refused.json()["errors"]
    assert error["pointer"] == "/name"
    assert error["detail"].startswith("must be printable text, without ")
