"""Sessions of tuned learning rates for tests: a trainer that talks to one, and what is compared."""

from contextlib import contextmanager

from fastapi.testclient import TestClient

from tests.learning_rate.trainers import Toy
from topoloom.app.api.main import create_app
from topoloom.app.config import Settings
from topoloom.learning_rate import Options, observe, start
from topoloom.learning_rate.state_machine.state import Action

STEPS = 520
ASKED = {"min_lr": 1e-4, "max_lr": 1.0, "total_steps": STEPS, "warmup_steps": 8, "anchor": "none",
         "candidates": 3, "max_overhead": 0.3}  # fmt: skip
PLACE = "/v1/lr-sessions"


@contextmanager
def running(url, **settings):
    with TestClient(
        create_app(Settings(database_url=url, **settings)), base_url="http://localhost"
    ) as client:
        yield client


def action_of(told):
    members = {name: value for name, value in told.items() if name != "type"}
    listed = {name: tuple(told.get(name, ())) for name in ("keep", "scales")}
    return Action(**members | listed)


class Job:
    """A trainer that talks to a session, and what it was told."""

    def __init__(self, client, **asked):
        self.client, self.toy = client, Toy()
        answer = client.post(PLACE, json=ASKED | asked)
        assert answer.status_code == 201, answer.text
        document = answer.json()
        assert answer.headers["Location"] == f"{PLACE}/{document['id']}"
        self.id, self.lease, self.sequence = document["id"], document["lease"], 0
        self.action = document["action"]
        self.actions = [self.action]

    @property
    def place(self):
        return f"{PLACE}/{self.id}"

    def post(self, losses=(), sequence=None, **more):
        number = self.sequence + 1 if sequence is None else sequence
        body = {"lease": self.lease, "sequence": number, "losses": list(losses)} | more
        return self.client.post(f"{self.place}/observations", json=body)

    def report(self, losses, **more):
        answer = self.post(losses, **more)
        assert answer.status_code == 200, answer.text
        self.sequence += 1
        self.action = answer.json()["action"]
        self.actions.append(self.action)
        return answer.json()

    def extend(self, total_steps=None, **more):
        length = {} if total_steps is None else {"total_steps": total_steps}
        body = {"lease": self.lease, "sequence": self.sequence + 1} | length | more
        return self.client.post(f"{self.place}/extend", json=body)

    def step(self):
        action = action_of(self.action)
        return self.report(self.toy.carry_out(action))

    def train(self, most=10**9):
        while self.action["do"] != "stop" and most > 0:
            self.step()
            most -= 1
        return self


def in_process(**asked):
    """Return the actions of the same job without any service."""
    options = {**ASKED, **asked}
    options["max_overhead"] = float(options["max_overhead"])
    state, toy = start(Options(**options)), Toy()
    actions = [state.action]
    while state.action.do != "stop":
        state = observe(state, toy.carry_out(state.action))
        actions.append(state.action)
    return actions, state


def same(told, actions):
    assert [one["do"] for one in told] == [one.do for one in actions]
    assert [one.get("lr") for one in told] == [one.lr for one in actions]
    assert [one.get("slot") for one in told] == [one.slot for one in actions]


def unharmed(job, ask, status, kind, pointer):
    """Ask, be refused, and find the session as it was."""
    before = job.client.get(job.place).content
    answer = ask()
    assert answer.status_code == status, answer.text
    problem = answer.json()
    assert problem["type"] == f"/problems/{kind}"
    assert [one["pointer"] for one in problem["errors"]] == [pointer]
    assert job.client.get(job.place).content == before
    return problem["detail"]
