"""Ratios between parameter groups and optimizers, in the trainer."""

import logging
import random
from pathlib import Path

import pytest

from topoloom.learning_rate import InProcess, Options, TuningCallback, tune
from topoloom.learning_rate.callbacks import ResumableBatches
from topoloom.learning_rate.callbacks.rates import Rates
from topoloom.learning_rate.callbacks.start_checks import TuningWarning
from topoloom.learning_rate.errors import InvalidOptions

torch = pytest.importorskip("torch", reason="the extra `execute` is not installed")
pytest.importorskip("sklearn", reason="the extra `tune` is not installed")

from tests.learning_rate.test_frameworks import ASKED, hugging_face, lightning_run  # noqa: E402

pytestmark = pytest.mark.usefixtures("one_thread")
STEPS = 1000
SMALL = 0.25  # size of the inputs of the second layer, whose right rate is 16 times the first one's


class Sum(torch.nn.Module):
    """The sum of two linear layers, on large inputs and on small ones."""

    def __init__(self):
        super().__init__()
        torch.manual_seed(0)
        self.large, self.small = torch.nn.Linear(3, 1), torch.nn.Linear(3, 1)

    def forward(self, inputs):
        return self.large(inputs[:, :3]) + self.small(SMALL * inputs[:, 3:])


class Job:
    """A regression with a parameter group, or an optimizer, for each layer."""

    def __init__(self, many=False, steps=STEPS, names=("large", "small"), **options):
        self.model = Sum()
        layers = [self.model.large, self.model.small]
        groups = [
            {"params": list(layer.parameters()), "name": name}
            for layer, name in zip(layers, names, strict=True)
        ]
        one = torch.optim.SGD(groups, lr=0.02)
        self.optimizer = one
        if many:
            self.optimizer = [torch.optim.SGD(layer.parameters(), lr=0.02) for layer in layers]
        draw = torch.Generator().manual_seed(1)
        self.inputs = torch.randn(256, 6, generator=draw)
        truth = torch.tensor([1.0, -1.0, 1.0, 4.0, 4.0, -4.0])
        weights = torch.cat([truth[:3], SMALL * truth[3:]])
        self.targets = (self.inputs @ weights)[:, None]
        self.targets += 0.3 * torch.randn(256, 1, generator=draw)
        self.data = ResumableBatches(256, 8, seed=0)
        asked = {"min_lr": 0.002, "max_lr": 0.2, **options}
        self.tuned = tune(self.model, self.optimizer, self.data, steps, **asked)

    def train(self, most=10**9):
        optimizers = self.optimizer if isinstance(self.optimizer, list) else [self.optimizer]
        for batch in self.tuned:
            loss = (self.model(self.inputs[batch]) - self.targets[batch]).square().mean()
            for optimizer in optimizers:
                optimizer.zero_grad()
            loss.backward()
            for optimizer in optimizers:
                optimizer.step()
            self.tuned.step(loss)
            most -= 1
            if not most:
                break
        return self

    @property
    def state(self):
        return self.tuned.tuner.state

    @property
    def bits(self):
        return [value.detach().numpy().tobytes() for value in self.model.parameters()]


def groups_of(*names):
    groups = [{"params": [torch.nn.Parameter(torch.zeros(1))]} for _ in names]
    named = zip(groups, names, strict=True)
    return [group if name is None else group | {"name": name} for group, name in named]


def test_a_group_has_the_rate_times_its_ratio_times_its_scale():
    optimizer = torch.optim.SGD(groups_of("embedding", None), lr=0.1)
    optimizer.param_groups[1]["lr"] = 0.05
    rates = Rates([optimizer], ["embedding", "1"])
    rates.set(1.0, (2.0, 5.0))
    assert [group["lr"] for group in optimizer.param_groups] == [2.0, 2.5]
    rates.require_set()
    optimizer.param_groups[0]["lr"] = 1.0
    with pytest.raises(InvalidOptions, match=r"group 0 is 1\.0, and the tuner sets 2\.0"):
        rates.require_set()


def test_a_name_is_all_groups_of_this_name_or_of_an_optimizer():
    first = torch.optim.SGD(groups_of("norm", "matrices"), lr=0.1)
    second = torch.optim.AdamW(groups_of("norm", None), lr=0.1)
    rates = Rates([first, second], ["norm"])
    rates.set(0.1, (3.0,))
    scaled = [g["lr"] > 0.2 for one in (first, second) for g in one.param_groups]
    assert scaled == [True, False, True, False]
    rates = Rates([first, second], ["optimizer-1", "0"])
    rates.set(0.1, (1.0, 1.0))
    assert rates.names == ["optimizer-1", "0"]


@pytest.mark.one_in(2)
@pytest.mark.parametrize("many", [False, True])
def test_the_layer_of_small_inputs_gets_a_larger_rate_and_the_run_ends_lower(many):
    ends = {}
    for ratios in (True, None):
        job = Job(many, group_ratios=ratios).train()
        loss = (job.model(job.inputs) - job.targets).square().mean().item()
        ends[ratios] = loss
        if ratios:
            assert job.state.scales[1] / job.state.scales[0] >= 3.16
            assert job.state.spent <= 1.1 * STEPS
    assert ends[True] <= ends[None] * 1.01


@pytest.mark.one_in(3)
@pytest.mark.parametrize("seed", range(3))
def test_a_run_saved_at_any_moment_resumes_bit_for_bit(seed, tmp_path):
    draw = random.Random(seed)
    whole = Job(group_ratios=True).train()
    first = Job(group_ratios=True).train(draw.randint(1, 400))
    for part in range(2):
        first.tuned.save(tmp_path / "job.pt")
        first = Job(group_ratios=True, resume=tmp_path / "job.pt")
        first.train(draw.randint(1, 300) if not part else 10**9)
    assert first.bits == whole.bits
    assert first.state.to_json() == whole.state.to_json()


@pytest.mark.slow
def test_candidates_in_forks_give_the_same_parameters():
    def trained(processes):
        job = Job(steps=600)
        asked = Options(0.002, 0.2, 600, side_by_side=3, group_ratios=["small"])
        job.tuned = TuningCallback(
            InProcess(asked), job.model, job.optimizer, data=job.data, processes=processes
        )
        return job.train()

    assert trained(3).bits == trained(1).bits


def test_logs_and_curves_name_the_groups_whose_scales_changed(caplog):
    points = []

    class Curves:
        def add_scalar(self, tag, scalar_value, global_step):
            points.append((tag, scalar_value))

    with caplog.at_level(logging.INFO, logger="topoloom.learning_rate"):
        job = Job(group_ratios=["small"], writer=Curves()).train()
    scale = job.state.scales[0]
    assert scale > 3 and f"small times {scale:.3g}" in caplog.text
    curve = [value for tag, value in points if tag == "scale/small"]
    assert curve[0] == 1.0 and curve[-1] == scale


WRONG = {
    "unknown": (["head"], "/group_ratios/0: must be one of 0, 1, large, small"),
    "twice": (["small", "small"], "/group_ratios/1: must be another group"),
    "both names of one group": (["small", 1], "/group_ratios/1: has a parameter group of another"),
    "a text": ("small", "/group_ratios: must be a list"),
    "false": (False, "/group_ratios: must be a list"),
    "a number": ([0.5], "/group_ratios/0: must be the name or the index"),
    "empty": ([""], "/group_ratios/0: must have 1 to 80"),
    "many": ([str(n) for n in range(9)], "/group_ratios: must name at most 8"),
    "beyond": ([2], "/group_ratios/0: must be one of"),
    "an optimizer of one": (["optimizer-0"], "/group_ratios/0: must be one of"),
}


@pytest.mark.parametrize(("ratios", "told"), WRONG.values(), ids=WRONG)
def test_a_wrong_group_is_refused_by_name(ratios, told):
    with pytest.raises(InvalidOptions) as refused:
        Job(group_ratios=ratios)
    assert str(refused.value).startswith(told)


@pytest.mark.parametrize("more", [{"look_above": False}, {"max_overhead": float("inf")}])
def test_ratios_need_trials_that_decay(more):
    with pytest.raises(InvalidOptions, match="/group_ratios: must be empty where look_above"):
        Options(1e-3, 0.1, 1000, group_ratios=["a"], **more).settled()


def test_one_group_has_no_ratio():
    model = torch.nn.Linear(1, 1)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    with pytest.raises(InvalidOptions, match="/group_ratios: must be left out"):
        tune(model, optimizer, ResumableBatches(8, 4), 1000, group_ratios=True)


def test_too_few_steps_for_trials_of_ratios_are_said():
    with pytest.warns(TuningWarning, match="no ratio is searched: 400 steps"):
        Job(steps=400, group_ratios=True)


def test_a_save_of_before_ratios_resumes_and_ratios_cannot_be_added_to_it(tmp_path):
    path = tmp_path / "job.pt"
    whole, first = Job().train(), Job().train(350)
    first.tuned.save(path)
    saved = torch.load(path, weights_only=True)
    for name in ("scales", "groups"):
        del saved[name]
    del saved["settings"]["group_ratios"], saved["tuner"]["settings"]["group_ratios"]
    document = saved["tuner"]
    del document["scales"], document["base"]
    for record in (document["action"], *document["attempts"], *document["history"]):
        del record["scales"]
        for attempt in record.get("attempts", ()):
            del attempt["scales"]
    document["version"] = 7
    torch.save(saved, path)
    assert Job(resume=path).train().bits == whole.bits
    with pytest.raises(InvalidOptions, match="/group_ratios: must stay"):
        Job(resume=path, group_ratios=True)


TRAINED = {"max_overhead": 0.6, "group_ratios": ("0", "1")}


def require_ratios(state, groups):
    """Check that ratios were tried, and that two groups have rates in the chosen ratio."""
    tried = {one.scales for stage in state.history for one in stage.attempts}
    assert len(tried) > 1 and state.action.reason == "finished"
    first, second = (group["lr"] for group in groups)
    assert first / second == pytest.approx(state.scales[0] / state.scales[1])


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
def test_hugging_faces_trainer_has_ratios_of_its_two_groups_and_resumes_them(tmp_path):
    def new(**more):
        tuner = InProcess(Options(1e-4, 1.0, 240, **{**ASKED, **TRAINED}))
        return tuner, *hugging_face(tmp_path, tuner, save_strategy="steps", save_steps=50, **more)

    tuner, model, trainer = new()
    trainer.train()
    require_ratios(tuner.state, trainer.optimizer.param_groups)
    again, resumed, trainer = new()
    trainer.train(resume_from_checkpoint=str(tmp_path / "checkpoint-50"))
    assert again.state.to_json() == tuner.state.to_json()
    assert all(map(torch.equal, resumed.state_dict().values(), model.state_dict().values()))


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
def test_lightnings_trainer_has_ratios_of_groups_and_resumes_them(tmp_path):
    def new():
        tuner = InProcess(Options(1e-4, 1.0, 240, **{**ASKED, **TRAINED}))
        module, loader, trainer = lightning_run(tmp_path, tuner, save_every=32)
        layers = module.network.layers
        groups = [{"params": list(layers[place].parameters())} for place in (0, 2)]
        module.configure_optimizers = lambda: torch.optim.AdamW(groups, lr=0.01)
        return tuner, module, loader, trainer

    tuner, module, loader, trainer = new()
    trainer.fit(module, loader)
    require_ratios(tuner.state, trainer.optimizers[0].param_groups)
    again, resumed, loader, trainer = new()
    trainer.fit(resumed, loader, ckpt_path=str(tmp_path / "step=64.ckpt"))
    assert again.state.to_json() == tuner.state.to_json()
    assert all(map(torch.equal, resumed.state_dict().values(), module.state_dict().values()))


def test_the_example_of_the_how_to_trains_with_ratios_between_two_optimizers():
    pytest.importorskip("torch", "2.9", reason="older releases have no Muon")
    page = (Path(__file__).parents[2] / "docs/how-to/tune-learning-rates.md").read_text()
    section = page.partition("## Search the ratios between parameter groups")[2]
    program = section.partition("```python\n")[2].partition("```")[0]
    assert "total_steps=10_000" in program
    torch.manual_seed(0)
    model = torch.nn.Module()
    model.embedding = torch.nn.Embedding(12, 8)
    layers = [torch.nn.Linear(8, 8), torch.nn.Tanh(), torch.nn.Linear(8, 8), torch.nn.Tanh()]
    model.hidden, model.head = torch.nn.Sequential(*layers), torch.nn.Linear(8, 12)
    model.forward = lambda rows: model.head(model.hidden(model.embedding(rows)))
    rows = torch.arange(12).repeat(20)
    data = torch.utils.data.TensorDataset(rows, rows * 5 % 12)
    known = {
        "model": model, "loader": torch.utils.data.DataLoader(data, 16), "torch": torch,
        "loss_function": torch.nn.CrossEntropyLoss(), "tune": tune,
    }  # fmt: skip
    exec(program.replace("10_000", "450"), known)
    state = known["tuned"].tuner.state
    assert state.settings.group_ratios == ("optimizer-0", "optimizer-1")
    assert state.step == 450 and len(state.scales) == 2
    assert known["loss"].item() < 1.0
