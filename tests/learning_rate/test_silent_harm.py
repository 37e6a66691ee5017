"""Silent harm to a training is a clear error, or is repaired."""

import math
import warnings

import pytest

from topoloom.learning_rate import InProcess, Options
from topoloom.learning_rate.callbacks import ResumableBatches, TuningCallback
from topoloom.learning_rate.callbacks.start_checks import TuningWarning, most_steps
from topoloom.learning_rate.errors import CannotRestore, Diverged, InvalidOptions

torch = pytest.importorskip("torch", reason="the extra `execute` is not installed")
pytest.importorskip("sklearn", reason="the extra `tune` is not installed")

pytestmark = pytest.mark.usefixtures("one_thread")
ASKED = {"candidates": 3, "max_overhead": 0.3}


class Training:
    """A linear regression; its loss function is replaced to let it diverge."""

    def __init__(self, data=None, options=None, optimizers=1, tuner=None, **more):
        torch.manual_seed(0)
        self.model = torch.nn.Linear(3, 1)
        kinds = torch.optim.SGD, torch.optim.AdamW
        each = zip(kinds, self.model.parameters(), (0.1, 0.02), strict=True)
        several = [kind([parameter], lr=lr) for kind, parameter, lr in each]
        self.optimizers = several if optimizers == 2 else [kinds[0](self.model.parameters(), 0.1)]
        self.inputs = torch.randn(32, 3)
        self.targets = self.inputs.sum(1, keepdim=True)
        self.scale = 1.0
        self.tuner = tuner or InProcess(options or Options(1e-4, 0.3, 240, **ASKED))
        self.batches = ResumableBatches(32, 4) if data is None else data
        optimizer = self.optimizers if optimizers == 2 else self.optimizers[0]
        self.callback = TuningCallback(self.tuner, self.model, optimizer, data=self.batches, **more)

    def loss(self, batch):
        if isinstance(batch[0], int):
            batch = self.inputs[batch], self.targets[batch]
        return self.scale * torch.nn.functional.mse_loss(self.model(batch[0]), batch[1])

    def one_step(self, batch):
        loss = self.loss(batch)
        for optimizer in self.optimizers:
            optimizer.zero_grad()
        loss.backward()
        for optimizer in self.optimizers:
            optimizer.step()
        return loss

    def run(self, most=10**9):
        for batch in self.callback:
            self.callback.step(self.one_step(batch))
            most -= 1
            if most == 0:
                break
        return self

    def parameters(self):
        return [parameter.detach().clone() for parameter in self.model.parameters()]

    def is_finite(self):
        return all(bool(parameter.isfinite().all()) for parameter in self.model.parameters())


def same(left, right):
    return all(torch.equal(a, b) for a, b in zip(left, right, strict=True))


def diverging(**more):
    """Train well for some steps, then lose every step's gradient to NaN."""
    training = Training(**more).run(150)
    training.scale = math.nan
    return training


def test_after_divergence_the_model_is_that_of_a_checkpoint_and_an_error_says_so():
    training = diverging()
    with pytest.raises(Diverged, match=r"checkpoint .+ is restored; begin with a smaller max_lr"):
        training.run()
    assert training.is_finite()
    assert not training.callback.running
    training.scale = 1.0
    assert training.loss(list(range(32))) < 0.5


def test_after_divergence_a_warning_says_so_where_the_trainer_asks_for_one():
    training = diverging(on_divergence="warn")
    with pytest.warns(TuningWarning, match="has diverged"):
        training.run()
    assert training.is_finite()


def test_a_run_of_the_paper_that_ends_with_nan_is_no_success():
    options = Options(1e-4, 0.3, 120, method="paper", tau_min=60, tau_max=60, validation="never")
    training = Training(options=options).run(30)
    training.scale = math.nan
    with pytest.raises(Diverged, match="/training"):
        training.run()


def test_a_wrong_way_to_be_told_of_divergence_is_named():
    with pytest.raises(InvalidOptions, match="/on_divergence: must be raise or warn"):
        Training(on_divergence="ignore")


@pytest.mark.parametrize("kind", ["given", "beside"])
def test_a_scheduler_beside_the_tuner_is_refused(kind):
    training = Training()
    scheduler = torch.optim.lr_scheduler.ExponentialLR(training.optimizers[0], 0.9)
    with pytest.raises(InvalidOptions, match="/scheduler: must be left out"):
        if kind == "given":
            TuningCallback(
                training.tuner, training.model, training.optimizers[0], scheduler=scheduler
            )
        for batch in training.callback:
            loss = training.one_step(batch)
            scheduler.step()
            training.callback.step(loss)


@pytest.mark.parametrize("steps", [240, 311])
def test_a_loop_shorter_than_the_longest_run_is_refused_at_the_start(steps):
    with pytest.raises(InvalidOptions, match="/loop_steps: must be at least 312: 240 steps"):
        Training(loop_steps=steps)


def test_a_loop_as_long_as_the_longest_run_is_taken():
    assert Training(loop_steps=312).callback.running


@pytest.mark.slow
def test_the_longest_run_of_the_paper_counts_every_trial():
    options = Options(1e-4, 0.3, 180, method="paper", tau_min=60, tau_max=60, validation="never")
    training = Training(options=options).run()
    assert training.tuner.state.spent <= most_steps(training.tuner.settings) == 360


def test_evaluate_is_asked_for_at_once():
    options = Options(1e-4, 0.3, 240, method="paper", tau_min=60, tau_max=60)
    with pytest.raises(InvalidOptions, match="/evaluate: must be given"):
        Training(options=options)
    assert Training(options=options, evaluate=lambda: 1.0).callback.running


def test_evaluate_is_not_asked_for_by_a_run_too_short_to_use_it():
    options = Options(1e-4, 0.3, 60, method="paper", tau_min=60, tau_max=60)
    assert Training(options=options).callback.running


def test_too_few_steps_for_a_search_are_said():
    with pytest.warns(TuningWarning, match="no rate is searched: 100 steps with max_overhead 0.1"):
        Training(options=Options(1e-4, 0.3, 100))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        Training()


CHANGED = {
    "candidates": {"candidates": 4},
    "max_lr": {"max_lr": 0.5},
    "total_steps": {"total_steps": 500},
    "seed": {"seed": 1},
    "max_overhead": {"max_overhead": 0.25},
}


@pytest.mark.parametrize(("name", "change"), CHANGED.items(), ids=CHANGED)
def test_options_changed_on_resume_are_refused_by_name(name, change, tmp_path):
    Training().run(20).callback.save(tmp_path / "job.pt")
    options = Options(**{"min_lr": 1e-4, "max_lr": 0.3, "total_steps": 240, **ASKED, **change})
    with pytest.raises(InvalidOptions, match=f"/{name}: must stay"):
        Training(options=options, resume=tmp_path / "job.pt")


def test_a_refused_resume_changes_nothing(tmp_path):
    Training().run(20).callback.save(tmp_path / "job.pt")
    training = Training(options=Options(1e-4, 0.3, 240, candidates=4, max_overhead=0.3)).run(5)
    before, told = training.parameters(), training.tuner.state
    with pytest.raises(InvalidOptions):
        training.callback.load(tmp_path / "job.pt")
    assert same(training.parameters(), before)
    assert training.tuner.state == told


def loader(workers=0, generator=None):
    inputs = torch.randn(40, 3, generator=torch.Generator().manual_seed(2))
    data = torch.utils.data.TensorDataset(inputs, inputs.sum(1, keepdim=True))
    return torch.utils.data.DataLoader(
        data, batch_size=4, shuffle=True, generator=generator, num_workers=workers
    )


def test_a_data_loader_gives_every_candidate_the_same_batches():
    training, seen = Training(data=loader()), {}
    for batch in training.callback:
        state = training.tuner.state
        if state.phase == "trial" and state.stage == 0 and not training.callback._losses:
            seen.setdefault(len(state.attempts), []).append(batch[0])
        training.callback.step(training.one_step(batch))
    first = [batches[0] for batches in seen.values()]
    assert len(first) >= 2
    assert all(torch.equal(batch, first[0]) for batch in first)


def test_every_batch_of_a_data_loader_is_trained_on_once_in_an_epoch():
    training, kept = Training(data=loader()), []
    for batch in training.callback:
        kept.append(batch)
        training.callback.step(training.one_step(batch))
        state = training.callback._data.state_dict()
        del kept[state["position"] :]
    assert len(kept) == 240
    for begin in range(0, 240, 10):
        rows = torch.cat([inputs for inputs, _ in kept[begin : begin + 10]])
        assert len({tuple(row.tolist()) for row in rows}) == 40


@pytest.mark.parametrize("own", [False, True], ids=["global generator", "own generator"])
def test_a_run_on_a_data_loader_is_resumed_bit_for_bit(own, tmp_path):
    def new(**more):
        generator = torch.Generator().manual_seed(5) if own else None
        return Training(data=loader(generator=generator), **more)

    whole = new().run()
    cut = new().run(97)
    cut.callback.save(tmp_path / "job.pt")
    torch.manual_seed(9)
    again = new(resume=tmp_path / "job.pt").run()
    assert same(again.parameters(), whole.parameters())
    assert again.tuner.state == whole.tuner.state


def test_batches_that_do_not_come_from_the_callback_are_refused():
    training = Training(data=loader())
    with pytest.raises(InvalidOptions, match="/data: has its batches read from the callback"):
        training.callback.step(1.0)


def test_data_that_cannot_go_back_is_refused():
    with pytest.raises(InvalidOptions, match="/data: must be a DataLoader, or have state_dict"):
        Training(data=7)
    bare = Training()
    callback = TuningCallback(bare.tuner, bare.model, bare.optimizers[0])
    with pytest.raises(InvalidOptions, match="/data: must be given"):
        next(iter(callback))


@pytest.mark.slow
def test_several_optimizers_keep_the_ratio_of_their_rates_and_resume(tmp_path):
    whole = Training(optimizers=2)
    rates = set()
    for batch in whole.callback:
        first, second = (o.param_groups[0]["lr"] for o in whole.optimizers)
        assert second == pytest.approx(first / 5)
        rates.add(first)
        whole.callback.step(whole.one_step(batch))
    assert len(rates) > 10
    cut = Training(optimizers=2).run(90)
    cut.callback.save(tmp_path / "job.pt")
    again = Training(optimizers=2, resume=tmp_path / "job.pt").run()
    assert same(again.parameters(), whole.parameters())


def test_a_parameter_group_added_later_is_named():
    training = Training()
    extra = torch.nn.Parameter(torch.zeros(1))
    training.optimizers[0].add_param_group({"params": [extra], "lr": 0.1})
    with pytest.raises(InvalidOptions, match="/optimizer: must keep its 1 parameter groups"):
        training.callback.set_rate()


def test_checkpoints_of_a_folder_leave_other_files_alone(tmp_path):
    own = tmp_path / "mine.pt"
    own.write_text("mine")
    Training(folder=tmp_path).run()
    assert own.read_text() == "mine"


def test_a_checkpoint_of_another_file_is_refused(tmp_path):
    torch.save({"tuner": {}}, tmp_path / "job.pt")
    with pytest.raises(CannotRestore, match="was not written by this callback"):
        Training(resume=tmp_path / "job.pt")
