"""So many requests at once, so many per second ever after: exact, and in bounded memory."""

import asyncio
from fractions import Fraction
from types import SimpleNamespace

import pytest
from fastapi.testclient import TestClient
from hypothesis import given
from hypothesis import strategies as st

from tests.app.jobs.work import until
from topoloom.app.api.main import create_app
from topoloom.app.api.problems import answer_to
from topoloom.app.auth import api_keys
from topoloom.app.auth.buckets import Buckets
from topoloom.app.auth.guesses import RefuseGuesses
from topoloom.app.auth.middleware import COUNTED
from topoloom.app.config import Settings

SECOND = 1_000_000_000


class Oracle:
    """A bucket as textbooks draw it: a level, in exact fractions."""

    def __init__(self, gain, burst):
        self.gain, self.burst, self.level, self.at = gain, burst, Fraction(burst), 0

    def take(self, now):
        self.level = min(Fraction(self.burst), self.level + Fraction(now - self.at, self.gain))
        self.at = now
        if self.level < 1:
            return False
        self.level -= 1
        return True


@given(
    st.integers(1, 1_000),
    st.integers(1, 50),
    st.lists(st.integers(0, 3 * SECOND), max_size=80),
)
def test_a_bucket_lets_through_what_a_textbook_bucket_does(per_second, burst, pauses):
    now = 0
    buckets = Buckets(per_second, burst, clock=lambda: now)
    oracle = Oracle(round(SECOND / per_second), burst)
    for pause in pauses:
        now += pause
        before = buckets.look("a").wait
        taken = buckets.take("a")
        assert before == taken.wait
        assert (taken.wait == 0) == oracle.take(now)
        assert taken.left == int(oracle.level)
        if taken.wait:
            missing = (1 - oracle.level) * oracle.gain
            assert (taken.wait - 1) * SECOND < missing <= taken.wait * SECOND


def test_who_waits_as_told_is_let_through():
    now = 0
    buckets = Buckets(0.4, 3, clock=lambda: now)
    while not (wait := buckets.take("a").wait):
        pass
    now += wait * SECOND
    assert buckets.take("a").wait == 0


def test_owners_do_not_share_and_memory_is_bounded():
    buckets = Buckets(1, 1, most=100, clock=lambda: 0)
    assert all(buckets.take(str(number)).wait == 0 for number in range(1_000))
    assert len(buckets) == 100
    assert buckets.take("999").wait == 1


def test_rates_that_are_none_are_refused():
    for given_ in ((0, 1), (1, 0)):
        with pytest.raises(ValueError, match="must be positive"):
            Buckets(*given_)


def client_of(tmp_path, address="203.0.113.9", **given_):
    chosen = Settings(
        database_url=f"sqlite:///{tmp_path / 't.db'}",
        host="0.0.0.0",
        allow_open=True,
        rate_burst=5,
        rate_per_second=1 / 60,
        **given_,
    )
    return TestClient(create_app(chosen), base_url="http://any.example", client=(address, 1))


def test_too_many_requests_of_an_address_are_told_when_to_come_again(tmp_path):
    with client_of(tmp_path) as client:
        for left in (4, 3, 2, 1, 0):
            answer = client.get("/version")
            assert answer.status_code == 200
            assert answer.headers["RateLimit-Policy"] == '"requests";q=5;w=300'
            assert answer.headers["RateLimit"].startswith(f'"requests";r={left};t=')
        refused = client.get("/version")
        assert refused.status_code == 429
        assert refused.json()["type"] == "/problems/too-many-requests"
        assert 1 <= int(refused.headers["Retry-After"]) <= 60
        assert refused.headers["RateLimit"].startswith('"requests";r=0;')
        assert client.get("/healthz").status_code == 200


def test_keys_have_rates_of_their_own(tmp_path):
    with client_of(tmp_path, auth="keys") as client:
        headers = []
        for name in "ab":
            made = api_keys.create(client.app.state.engine, name, ["read"])[1]
            headers.append({"Authorization": f"Bearer {made}"})
        for header in headers:
            statuses = [client.get("/v1/designs", headers=header).status_code for _ in range(7)]
            assert statuses == [200] * 5 + [429] * 2


def test_a_flood_of_a_key_has_a_line_a_second_in_the_log(tmp_path, lines):
    """Other keys, open paths and browsers notice nothing of the refusals without a line."""
    with client_of(tmp_path, auth="keys") as client:
        of = {}
        for name in ["greedy", "other"]:
            made = api_keys.create(client.app.state.engine, name, ["read"])[1]
            of[name] = {"Authorization": f"Bearer {made}"}
        until(lambda: client.get("/v1/designs", headers=of["greedy"]).status_code == 429)
        lines()
        refused = [client.get("/v1/designs", headers=of["greedy"]) for _ in range(40)]
        told = [one for one in lines() if one.get("status") == 429]
        cheap = [one for one in refused if "X-Request-ID" not in one.headers]
        assert len(told) == 40 - len(cheap) < 20
        for one in cheap:
            assert one.status_code == 429
            assert one.json()["type"] == "/problems/too-many-requests"
            assert int(one.headers["Retry-After"]) >= 1
            assert one.headers["RateLimit"].startswith('"requests";r=0;')
        browser = client.get("/v1/designs", headers=of["greedy"] | {"Origin": "https://a.example"})
        assert "X-Request-ID" in browser.headers
        assert client.get("/version", headers=of["greedy"]).status_code == 200
        assert client.get("/v1/designs", headers=of["other"]).status_code == 200


def guess(client, number):
    header = {"Authorization": f"Bearer tl_{number:08x}_{'0' * 48}"}
    return client.get("/v1/designs", headers=header)


@pytest.mark.parametrize("address", ["203.0.113.9", "127.0.0.1"])
def test_guesses_are_limited_by_address_also_on_this_machine(tmp_path, address):
    with client_of(tmp_path, address, auth="keys", auth_failures_per_minute=1) as client:
        statuses = [guess(client, number).status_code for number in range(9)]
        assert statuses == [401] + [429] * 8
        assert 1 <= int(guess(client, 0).headers["Retry-After"]) <= 60
        # A request without a key is a guess, too.
        assert client.get("/v1/designs").status_code == 429


def test_guesses_cost_the_valid_keys_of_the_address_nothing(tmp_path):
    with client_of(tmp_path, auth="keys", auth_failures_per_minute=1) as client:
        made = api_keys.create(client.app.state.engine, "a", ["read"])[1]
        for number in range(20):
            guess(client, number)
        header = {"Authorization": f"Bearer {made}"}
        statuses = [client.get("/v1/designs", headers=header).status_code for _ in range(6)]
        assert statuses == [200] * 5 + [429]
        later = api_keys.create(client.app.state.engine, "b", ["read"])[1]
        header = {"Authorization": f"Bearer {later}"}
        until(lambda: client.get("/v1/designs", headers=header).status_code == 200)
        assert client.get("/readyz").status_code == 200


@pytest.mark.parametrize("left", [0, 1, 3])
def test_guesses_at_once_pass_only_for_the_tokens_left(left):
    """The gate takes its token after a query; the guesses of the meantime must not pass, too."""
    failures, passed, sent = Buckets(1, 4, clock=lambda: 0), [], []

    class Unknown:
        async def is_listed(self, text):
            return False

    async def gate(scope, receive, send):
        await asyncio.sleep(0.01)
        passed.append(scope["state"])

    async def send(message):
        sent.extend([message["status"]] if "status" in message else [])

    refuse = RefuseGuesses(gate, failures, answer_to, lambda reason: None)
    app = SimpleNamespace(state=SimpleNamespace(known_keys=Unknown()))
    scope = {"type": "http", "path": "/v1/designs", "method": "GET", "headers": [], "app": app}
    for _ in range(4 - left):
        failures.take("address:192.0.2.1")

    async def all_at_once():
        client = {"client": ("192.0.2.1", 1)}
        await asyncio.gather(*(refuse(scope | client, None, send) for _ in range(20)))

    asyncio.run(all_at_once())
    assert passed == [{COUNTED: True}] * left
    assert sent == [429] * (20 - left)


def test_one_network_of_ipv6_is_one_client(tmp_path):
    with client_of(tmp_path) as client:
        for number in range(6):
            client._transport.client = (f"2001:db8::{number}", 1)
            status = client.get("/version").status_code
        assert status == 429


def test_who_is_alone_on_this_machine_is_not_counted(tmp_path):
    chosen = Settings(database_url=f"sqlite:///{tmp_path / 't.db'}", rate_burst=1)
    with TestClient(create_app(chosen), base_url="http://localhost") as client:
        for _ in range(5):
            answer = client.get("/version")
            assert answer.status_code == 200
            assert "RateLimit" not in answer.headers


def test_rates_can_be_switched_off(tmp_path):
    with client_of(tmp_path) as client:
        assert "RateLimit" in client.get("/version").headers
    chosen = Settings(
        database_url=f"sqlite:///{tmp_path / 't.db'}", host="0.0.0.0", rate_per_second=0
    )
    with TestClient(create_app(chosen), base_url="http://any.example") as client:
        assert "RateLimit" not in client.get("/version").headers
