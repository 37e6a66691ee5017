"""A tuner behind HTTP is the tuner in process, whatever is lost on the way."""

import json
import os
import random
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

from tests.learning_rate.trainers import Toy
from tests.ports import held_port
from topoloom.app.client import Client, Refused, Unreachable
from topoloom.app.client.remote_tuner import RemoteTuner
from topoloom.learning_rate import InProcess, Options
from topoloom.learning_rate.errors import InvalidState

pytest.importorskip("sklearn", reason="the extra `tune` is not installed")

ROOT = Path(__file__).parent.parent.parent
STEPS = 520
OPTIONS = Options(1e-4, 1.0, STEPS, warmup_steps=8, anchor="none", candidates=3, max_overhead=0.3)


class Service:
    """A service as a process that is killed and started again at the same address."""

    def __init__(self, database, port):
        self.port, self.url = port, f"http://127.0.0.1:{port}"
        self._environment = os.environ | {"TOPOLOOM_DATABASE_URL": f"sqlite:///{database}"}
        self.start()

    def start(self):
        command = [sys.executable, "-m", "topoloom", "serve", "--port", str(self.port)]
        quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
        self.process = subprocess.Popen(command, env=self._environment, cwd=ROOT, **quiet)
        client = Client(self.url, timeout_seconds=5)
        for _ in range(300):
            if client.is_ready():
                return
            assert self.process.poll() is None, "the service ended before it was ready"
            time.sleep(0.1)
        raise AssertionError("the service did not become ready")

    def kill(self):
        self.process.send_signal(signal.SIGKILL)
        self.process.wait(timeout=30)


@pytest.fixture(scope="module")
def service(tmp_path_factory):
    with held_port() as port:
        running = Service(tmp_path_factory.mktemp("lr") / "t.db", port)
        yield running
        running.kill()


def trained(tuner, toy=None, before=lambda number: None):
    """Train to the end; return the actions and the trainer."""
    toy, actions = toy or Toy(), []
    while (action := tuner.action).do != "stop":
        before(len(actions))
        actions.append(action)
        tuner.observe(toy.carry_out(action))
    return actions, toy


class Flaky(Client):
    """A client of which requests or answers get lost, at random from a seed."""

    def __init__(self, url, seed, share):
        super().__init__(url, timeout_seconds=30)
        # The tuner works with copies, which share the list.
        self._chance, self._share, self.lost = random.Random(seed), share, []

    def _open(self, request, seconds):
        lost = self._chance.random() < self._share
        before = self._chance.random() < 0.5
        self.lost += [True] * lost
        if lost and before:
            raise Unreachable("the request is lost")
        answer = super()._open(request, seconds)
        if lost:
            raise Unreachable("the answer is lost")
        return answer


@pytest.mark.slow
def test_it_gives_the_actions_of_the_tuner_in_process(service):
    tuner = RemoteTuner(Client(service.url), OPTIONS, name="same")
    actions, toy = trained(tuner)
    assert actions == trained(InProcess(OPTIONS))[0]
    assert toy.position == STEPS and not tuner.is_cut_off


@pytest.mark.slow
def test_a_run_of_another_length_is_that_of_the_tuner_in_process(service):
    def lengthened(tuner):
        return trained(tuner, before=lambda number: number == 40 and tuner.extend(STEPS + 80))

    tuner = RemoteTuner(Client(service.url), OPTIONS, name="longer")
    actions, toy = lengthened(tuner)
    assert actions == lengthened(InProcess(OPTIONS))[0]
    assert toy.position == STEPS + 80
    with pytest.raises(Refused, match="the session has finished"):
        tuner.extend(STEPS + 90)


@pytest.mark.slow
def test_who_waits_for_lost_answers_gets_the_same_schedule(service):
    client = Flaky(service.url, seed=1, share=0.3)
    actions, _ = trained(RemoteTuner(client, OPTIONS, patience_seconds=60))
    assert len(client.lost) > 10
    assert actions == trained(InProcess(OPTIONS))[0]


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(4))
def test_who_does_not_wait_goes_on_and_catches_up(service, seed):
    client = Flaky(service.url, seed, share=0.0)
    tuner = RemoteTuner(client, OPTIONS, patience_seconds=0, retry_seconds=0)
    toy = Toy()
    while tuner.action.lr is None:  # before the first rate there is nothing to go on at
        tuner.observe(toy.carry_out(tuner.action))
    client._share = 0.4
    trained(tuner, toy)
    client._share = 0.0
    if tuner.is_cut_off:
        tuner._deliver(10)
    document = json.loads(client.read("lr-sessions", tuner.session_id))
    history = json.loads(client.lr_history(tuner.session_id))["entries"]
    assert len(client.lost) > 3
    assert any(entry["unasked"] for entry in history)
    assert document["spent"] == toy.run
    assert (document["state"], document["step"]) == ("finished", STEPS)
    assert toy.position == STEPS
    kept = [entry for entry in history if entry["kept"]]
    assert sum(len(entry["losses"]) for entry in kept) == STEPS


@pytest.mark.slow
def test_training_ends_though_the_service_never_comes_back(tmp_path, port):
    service = Service(tmp_path / "gone.db", port)
    tuner = RemoteTuner(Client(service.url), OPTIONS, patience_seconds=0.3, retry_seconds=0)

    def killed(number):
        if number == 20:
            service.kill()

    actions, toy = trained(tuner, before=killed)
    assert tuner.action.do == "stop" and tuner.is_cut_off
    assert toy.run >= STEPS - 1
    assert {action.lr for action in actions[25:]} == {actions[25].lr}
    assert tuner.state_dict()["reports"]


@pytest.mark.slow
def test_a_service_killed_in_mid_stage_and_started_again_changes_nothing(tmp_path, port):
    service = Service(tmp_path / "killed.db", port)
    tuner = RemoteTuner(Client(service.url, timeout_seconds=10), OPTIONS, patience_seconds=100)
    again = threading.Thread(target=service.start)

    def killed(number):
        if number == 14:
            service.kill()
            again.start()

    actions, _ = trained(tuner, before=killed)
    again.join()
    service.kill()
    assert tuner.action.reason == "finished"
    assert actions == trained(InProcess(OPTIONS))[0]


@pytest.mark.slow
def test_a_state_of_a_trainer_that_was_cut_off_is_resumed(service):
    client = Flaky(service.url, 5, share=0.0)
    tuner = RemoteTuner(client, OPTIONS, patience_seconds=0, retry_seconds=0)
    toy = Toy()
    for _ in range(30):
        tuner.observe(toy.carry_out(tuner.action))
    client._share = 1.0
    for _ in range(5):
        tuner.observe(toy.carry_out(tuner.action))
    assert tuner.is_cut_off
    document = json.loads(json.dumps(tuner.state_dict()))
    again = RemoteTuner(Client(service.url))
    again.load_state_dict(document)
    assert not again.is_cut_off and again.session_id == tuner.session_id
    _, toy = trained(again, toy)
    assert toy.position == STEPS
    client._share = 0.0
    with pytest.raises(Refused, match="another trainer"):
        tuner.observe([1.0])


@pytest.mark.slow
def test_a_cancelled_session_is_an_error_for_its_trainer(service):
    tuner = RemoteTuner(Client(service.url), OPTIONS)
    losses = [2.0] * tuner.action.steps
    Client(service.url).lr_cancel(tuner.session_id)
    with pytest.raises(Refused, match="was cancelled"):
        tuner.observe(losses)


@pytest.mark.slow
def test_what_is_no_state_is_refused(service):
    tuner = RemoteTuner(Client(service.url))
    with pytest.raises(InvalidState, match="no options"):
        _ = tuner.action
    for document in ({}, {"session": "x"}, tuner.state_dict() | {"reports": 3}):
        with pytest.raises(InvalidState, match="/tuner"):
            tuner.load_state_dict(document)


EXAMPLE = ROOT / "examples" / "tuned_by_service.py"


@pytest.mark.slow
def test_the_example_trains_and_adds_fewer_than_fifteen_lines(service, tmp_path, capsys):
    torch = pytest.importorskip("torch", reason="the extra `execute` is not installed")
    torch.set_num_threads(1)
    text = EXAMPLE.read_text()
    assert 0 < sum("# tuned" in line for line in text.split('"""', 2)[2].splitlines()) < 15
    namespace = {"__name__": "example"}
    exec(compile(text, str(EXAMPLE), "exec"), namespace)
    path = str(tmp_path / "job.pt")
    assert namespace["train"](service.url, path, steps=400) > 0.8
    shown = capsys.readouterr().out
    session = Client(service.url).lr_sessions()["items"][0]
    assert (session["state"], session["step"], session["name"]) == ("finished", 400, "digits")
    assert session["id"] in shown
    assert namespace["train"](service.url, path, steps=400) > 0.8  # from the last save on
    assert Client(service.url).lr_sessions()["items"][0]["id"] == session["id"]


TRAINER = """
import json, os, signal, sys
from topoloom.app.client import Client
from topoloom.app.client.remote_tuner import RemoteTuner
from topoloom.learning_rate import InProcess, Options
from tests.learning_rate import test_callbacks

url, path, cut = sys.argv[1], sys.argv[2], int(sys.argv[3])

def remote(options):
    return RemoteTuner(Client(url, timeout_seconds=10), options, patience_seconds=100)

if url:
    test_callbacks.InProcess = remote
training = test_callbacks.Training(resume=path)
while training.callback.running:
    training.step()
    if url and len(training.losses) % 10 == 0:
        training.callback.save(path)
    if len(training.losses) == cut:
        os.kill(os.getpid(), signal.SIGKILL)
print(json.dumps([value.flatten().tolist() for value in training.parameters()]))
"""


def trainer(url, path, cut=0):
    command = [sys.executable, "-c", TRAINER, url, str(path), str(cut)]
    return subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True)


@pytest.mark.slow
def test_trainer_and_service_killed_end_as_the_undisturbed_run_bit_for_bit(tmp_path, port):
    pytest.importorskip("torch", reason="the extra `execute` is not installed")
    plain = trainer("", tmp_path / "none.pt")
    service, job = Service(tmp_path / "both.db", port), tmp_path / "job.pt"
    cut = 37  # in the second candidate, seven steps after the job was saved
    first = trainer(service.url, job, cut)
    first.communicate(timeout=120)
    assert first.returncode == -signal.SIGKILL
    session = Client(service.url).lr_sessions()["items"][0]
    assert session["state"] == "running"
    second = trainer(service.url, job)
    while Client(service.url).lr_sessions()["items"][0]["step"] < 60:
        assert second.poll() is None
        time.sleep(0.02)
    service.kill()
    time.sleep(0.5)
    service.start()
    out, _ = second.communicate(timeout=200)
    assert second.returncode == 0
    assert out == plain.communicate(timeout=200)[0]
    items = Client(service.url).lr_sessions()["items"]
    service.kill()
    assert [item["state"] for item in items] == ["finished"]
