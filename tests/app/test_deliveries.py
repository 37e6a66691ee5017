"""Deliveries of webhooks over HTTP, on the command line and in the client."""

import json

import pytest
from fastapi.testclient import TestClient

from tests.app.jobs.work import until
from tests.app.test_job_commands import address as address
from tests.app.test_job_commands import there as there
from tests.app.test_webhooks import SECRET
from tests.app.test_webhooks import receiver as receiver
from topoloom.app.api.main import create_app
from topoloom.app.client import Client
from topoloom.app.config import Settings
from topoloom.app.jobs import enqueue
from topoloom.app.jobs.errors import WebhookRefused
from topoloom.app.jobs.facade import Jobs
from topoloom.app.jobs.model import Task
from topoloom.app.jobs.webhooks.targets import WebhookRules
from topoloom.app.store.database import open_engine

SWEEP = {"over": "sizes", "nodes": ["6:10:2"], "degrees": [2]}
NOBODY = "0" * 32


@pytest.fixture
def settings(settings, receiver, monkeypatch):
    """Return settings that allow the receiver, of a service without a worker."""
    chosen = {"webhook_hosts": receiver.host, "webhook_secret": SECRET, "webhook_private": "true"}
    for name, value in chosen.items():
        monkeypatch.setenv(Settings.variable(name), value)
    return Settings(database_url=settings.database_url, run_worker=False)


def ended(client, receiver):
    """Return the path of a job that was asked for with a webhook, and was cancelled."""
    headers = {"Prefer": "respond-async", "Topoloom-Webhook": receiver.url}
    path = client.post("/v1/sweeps", json=SWEEP, headers=headers).headers["location"]
    assert client.post(f"{path}/cancel").status_code == 200
    return path


def listed(client, path):
    return client.get(f"{path}/deliveries").json()["items"]


def test_a_service_without_a_worker_sends_lists_and_sends_again(client, receiver):
    path = ended(client, receiver)
    until(lambda: listed(client, path)[0]["state"] == "delivered")
    (delivery,) = listed(client, path)
    assert receiver.ids == [delivery["id"]]
    assert delivery["url"] == receiver.url.partition("?")[0]
    assert (delivery["attempts"][0]["status"], delivery["next_attempt_at"]) == (204, None)
    again = client.post(f"{path}/deliveries/{delivery['id']}/resend")
    assert (again.status_code, again.json()["id"]) == (202, delivery["id"])
    until(lambda: len(listed(client, path)[0]["attempts"]) == 2)
    assert receiver.ids == [delivery["id"]] * 2


def test_a_service_sends_after_a_restart_what_it_did_not_send_before(settings, receiver):
    engine = open_engine(settings.database_url)
    jobs = Jobs(engine, webhooks=WebhookRules((receiver.host,), SECRET, private=True))
    job = jobs.enqueue(Task.of("design", {}), webhook=receiver.url)
    jobs.cancel(job)
    engine.dispose()
    with TestClient(create_app(settings), base_url="http://localhost") as client:
        until(lambda: listed(client, f"/v1/jobs/{job}")[0]["state"] == "delivered")
    assert len(receiver.messages) == 1


def test_what_is_not_there_is_a_404_and_what_has_not_ended_a_409(client, receiver):
    headers = {"Prefer": "respond-async", "Topoloom-Webhook": receiver.url}
    path = client.post("/v1/sweeps", json=SWEEP, headers=headers).headers["location"]
    (delivery,) = listed(client, path)
    assert delivery["state"] == "held"
    held = client.post(f"{path}/deliveries/{delivery['id']}/resend")
    assert (held.status_code, held.json()["type"]) == (409, "/problems/job-not-ended")
    assert client.get(f"/v1/jobs/{NOBODY}/deliveries").status_code == 404
    for place in (f"{path}/deliveries/{NOBODY}", f"/v1/jobs/{NOBODY}/deliveries/{delivery['id']}"):
        assert client.post(f"{place}/resend").status_code == 404
    assert client.post(f"{path}/deliveries/x/resend").status_code == 422


def test_a_job_takes_a_limited_number_of_webhooks(engine, receiver, monkeypatch):
    monkeypatch.setattr(enqueue, "MAX_WEBHOOKS", 3)
    jobs = Jobs(engine, webhooks=WebhookRules((receiver.host,), SECRET, private=True))
    urls = [f"http://{receiver.host}/{number}" for number in range(4)]
    for url in [*urls[:-1], urls[0]]:
        job = jobs.enqueue(Task.of("design", {}), webhook=url)
    with pytest.raises(WebhookRefused, match="at most 3 URLs"):
        jobs.enqueue(Task.of("design", {}), webhook=urls[-1])
    assert len(jobs.deliveries(job)) == 3


def test_deliveries_are_listed_and_sent_again_on_the_command_line(
    settings, receiver, topoloom, there
):
    engine = open_engine(settings.database_url)
    jobs = Jobs(engine, webhooks=WebhookRules((receiver.host,), SECRET, private=True))
    job = jobs.enqueue(Task.of("design", {}), webhook=receiver.url)
    (delivery,) = jobs.deliveries(job)
    table = topoloom("jobs", "deliveries", job, *there).out
    assert table.splitlines()[1].split()[:3] == [delivery.id, "held", "0"]
    refused = topoloom("jobs", "resend", job, delivery.id, *there)
    assert refused.code == 2 and "must have ended" in refused.err
    jobs.cancel(job)
    sent = topoloom("jobs", "resend", job, delivery.id, *there)
    assert sent.out.startswith(f"{delivery.id}: ")
    document = json.loads(topoloom("jobs", "deliveries", job, "--json", *there).out)
    assert [one["id"] for one in document["items"]] == [delivery.id]
    engine.dispose()


def test_the_client_lists_deliveries_and_sends_them_again(settings, receiver, address):
    engine = open_engine(settings.database_url)
    jobs = Jobs(engine, webhooks=WebhookRules((receiver.host,), SECRET, private=True))
    job = jobs.enqueue(Task.of("design", {}), webhook=receiver.url)
    jobs.cancel(job)
    engine.dispose()
    client = Client(address)
    (delivery,) = client.deliveries(job)["items"]
    assert client.resend(job, delivery["id"])["id"] == delivery["id"]
