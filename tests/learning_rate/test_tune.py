"""`tune`: a plain loop over the callback; its logs and curves."""

import itertools
import logging

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from topoloom.learning_rate import tune
from topoloom.learning_rate.callbacks import ResumableBatches
from topoloom.learning_rate.errors import InvalidOptions

torch = pytest.importorskip("torch", reason="the extra `execute` is not installed")
pytest.importorskip("sklearn", reason="the extra `tune` is not installed")

pytestmark = pytest.mark.usefixtures("one_thread")
STEPS = 300
ASKED = {"candidates": 3, "max_overhead": 0.3}


class Curves:
    """A writer that keeps its points."""

    def __init__(self):
        self.points = []

    def add_scalar(self, tag, scalar_value, global_step):
        self.points.append((tag, scalar_value, global_step))


def training(total_steps=STEPS, lr=0.01, options_of=lambda model: {}, **more):
    """Return the callback, and a step of a linear regression."""
    torch.manual_seed(0)
    model = torch.nn.Linear(3, 1)
    optimizer = torch.optim.SGD(model.parameters(), lr)
    inputs = torch.randn(64, 3)
    rows = torch.utils.data.TensorDataset(inputs, inputs.sum(1, keepdim=True))
    loader = torch.utils.data.DataLoader(rows, batch_size=8, shuffle=True)
    tuned = tune(model, optimizer, loader, total_steps, **{**ASKED, **options_of(model), **more})

    def loss_of(batch):
        loss = torch.nn.functional.mse_loss(model(batch[0]), batch[1])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        return loss

    return tuned, loss_of


def test_a_plain_loop_trains_to_the_end():
    tuned, loss_of = training()
    losses = []
    for batch in tuned:
        losses.append(loss_of(batch))
        tuned.step(losses[-1])
    assert not tuned.running
    assert STEPS < len(losses) <= 1.3 * STEPS
    assert losses[-1] < losses[0] / 10


@pytest.mark.slow
def test_an_extended_run_is_resumed_by_the_script_that_extended_it(tmp_path):
    def run(stop=None, **more):
        tuned, loss_of = training(**more)
        losses = []
        for batch in tuned:
            losses.append(loss_of(batch).item())
            tuned.step(losses[-1])
            if tuned.tuner.state.phase == "exploit" and tuned.tuner.state.step < 500:
                tuned.extend(2 * STEPS)
            if len(losses) == stop:
                tuned.save(tmp_path / "job.pt")
                return losses
        assert tuned.tuner.state.step == 2 * STEPS
        return losses

    whole = run()
    first = run(stop=400)
    assert first + run(resume=tmp_path / "job.pt") == whole


def test_an_average_of_the_weights_holds_the_kept_steps_alone():
    made = []

    def averaged(model):
        made.extend([model, torch.optim.swa_utils.AveragedModel(model)])
        return {"others": {"average": made[1]}, "anchor": "none"}

    tuned, loss_of = training(options_of=averaged)
    model, average = made
    for batch in tuned:
        loss = loss_of(batch)
        average.update_parameters(model)
        tuned.step(loss)
    assert average.n_averaged == STEPS < tuned.tuner.state.spent


def test_a_decay_on_demand_ends_the_run_early(caplog):
    caplog.set_level(logging.INFO, "topoloom.learning_rate")
    tuned, loss_of = training()
    for batch in tuned:
        tuned.step(loss_of(batch))
        state = tuned.tuner.state
        if state.phase == "exploit" and 150 <= state.step < 160:
            tuned.decay()
    assert 150 < tuned.tuner.state.step < STEPS
    assert "the run has " in caplog.text
    with pytest.raises(InvalidOptions, match="after the end of the run"):
        tuned.extend(2 * STEPS)


def told(caplog):
    return [record.getMessage() for record in caplog.records]


@pytest.mark.parametrize("off", [1e-4, 1e3])
def test_without_an_interval_a_range_test_finds_one_within_the_budget_and_says_so(off, caplog):
    """The optimizer's own rate may be wrong by decades."""
    caplog.set_level(logging.INFO, "topoloom.learning_rate")
    tuned, loss_of = training(lr=0.01 * off)
    losses = []
    for batch in tuned:
        losses.append(loss_of(batch).item())
        tuned.step(losses[-1])
    state = tuned.tuner.state
    assert losses[-1] < losses[0] / 10
    assert state.spent == len(losses) <= 1.3 * STEPS and state.step == STEPS
    assert 1e-3 < state.settings.warmup_lr <= 1
    assert f"a range test begins at the optimizer's rate, {0.01 * off:g}" in told(caplog)[0]
    (line,) = (line for line in told(caplog) if line.startswith("range test ("))
    assert all(f"{one.rate:.3g} {one.status}" in line for one in state.tested)
    found = state.settings
    assert line.endswith(
        f"rates from {found.min_lr:.3g} to {found.max_lr:.3g}, warm-up to {found.warmup_lr:.3g}"
    )


@pytest.mark.parametrize(
    "options",
    [{"range_test": False}, {"method": "paper", "candidates": 2, "max_overhead": None},
     {"max_lr": 0.01 * 10**1.5}],
    ids=["no test", "no budget", "one end"],
)  # fmt: skip
def test_where_there_is_no_range_test_the_interval_is_around_the_optimizers_rate(options, caplog):
    caplog.set_level(logging.INFO, "topoloom.learning_rate")
    settings = training(evaluate=lambda: 0.0, **options)[0].tuner.settings
    assert settings.min_lr * settings.max_lr == pytest.approx(0.01**2)
    assert settings.max_lr / settings.min_lr == pytest.approx(1000)
    assert settings.warmup_lr == pytest.approx(0.01) and not settings.range_test
    assert "rates from 0.000316 to 0.316: min_lr and max_lr set other ones" in caplog.text


@pytest.mark.one_in(4)
@pytest.mark.parametrize("stop", [3, 12, 30, 45])
def test_a_run_that_is_saved_in_its_range_test_is_resumed_bit_for_bit(stop, tmp_path):
    def run(stop=None, **more):
        tuned, loss_of = training(lr=1e-6, **more)
        losses = []
        for batch in tuned:
            losses.append(loss_of(batch).item())
            tuned.step(losses[-1])
            if len(losses) == stop:
                tuned.save(tmp_path / "job.pt")
                return losses, None
        return losses, tuned.tuner.state

    whole, state = run()
    assert sum(attempt.steps for attempt in state.tested) > 45
    first, _ = run(stop)
    rest, again = run(resume=tmp_path / "job.pt")
    assert (first + rest, again) == (whole, state)


def test_a_given_interval_is_taken_as_it_is():
    settings = training(min_lr=1e-3, max_lr=0.2)[0].tuner.settings
    assert (settings.min_lr, settings.max_lr) == (1e-3, 0.2)


WRONG = {
    "an unknown option": ({"candidate": 4}, "/candidate: is not known"),
    "no steps": ({"total_steps": 0}, "/total_steps"),
    "no rate": ({"lr": 0.0}, "/optimizer"),
    "upside down": ({"min_lr": 1.0, "max_lr": 0.1}, "/min_lr: must be less than max_lr"),
}


@pytest.mark.parametrize(("more", "said"), WRONG.values(), ids=WRONG)
def test_a_wrong_argument_is_named(more, said):
    with pytest.raises(InvalidOptions, match=said):
        training(**more)


def test_the_log_has_the_plan_each_stage_and_the_end(caplog):
    caplog.set_level(logging.INFO, "topoloom.learning_rate")
    tuned, loss_of = training()
    for batch in tuned:
        tuned.step(loss_of(batch))
    lines = [record.getMessage() for record in caplog.records]
    history = tuned.tuner.state.history
    assert "step 0 of 300, 390 with the search" in caplog.text
    stages = [line for line in lines if line.startswith("steps ")]
    assert len(stages) == len(history)
    for line, stage in zip(stages, history, strict=True):
        assert f"rate {stage.rate:.3g} (" in line
        assert all(f"{attempt.rate:.3g}" in line for attempt in stage.attempts)
    assert lines[-1] == f"finished, 300 steps kept of {tuned.tuner.state.spent}"


def test_curves_have_every_step_and_tell_trials_from_the_run():
    curves = Curves()
    tuned, loss_of = training(writer=curves)
    rates = []
    for batch in tuned:
        rates.append(tuned.lr)
        tuned.step(loss_of(batch))
    spent = tuned.tuner.state.spent
    by_tag = {}
    for tag, value, step in curves.points:
        by_tag.setdefault(tag, []).append((step, value))
    assert set(by_tag) == {"learning_rate", "loss/kept", "loss/trial"}
    assert by_tag["learning_rate"] == list(zip(range(1, spent + 1), rates, strict=True))
    told = sorted(step for tag in ("loss/kept", "loss/trial") for step, _ in by_tag[tag])
    assert told == list(range(1, spent + 1))


def test_tensorboard_takes_the_curves(tmp_path):
    tensorboard = pytest.importorskip("torch.utils.tensorboard", reason="it is not installed")
    with tensorboard.SummaryWriter(tmp_path) as writer:
        tuned, loss_of = training(writer=writer)
        for batch in tuned:
            tuned.step(loss_of(batch))
    assert list(tmp_path.glob("events.*"))


@pytest.mark.slow
@settings(max_examples=4, deadline=None)
@given(
    width=st.integers(1, 24),
    depth=st.integers(0, 2),
    seed=st.integers(0, 999),
    adam=st.booleans(),
    classes=st.booleans(),
    off=st.integers(-4, 2),
)
def test_drawn_networks_train_whatever_decade_their_rate_is_in(
    width, depth, seed, adam, classes, off
):
    """Without an interval: at least half of what a tenth of a usual rate gains, and no harm."""

    def end_of(rate, tuned):
        torch.manual_seed(seed)
        inputs = torch.randn(256, 6)
        hidden = torch.tanh(inputs @ torch.randn(6, 8) / 2) @ torch.randn(8, 3)
        targets = hidden.argmax(1) if classes else hidden
        error = torch.nn.functional.cross_entropy if classes else torch.nn.functional.mse_loss
        widths = [6] + [width] * depth
        layers = [
            layer
            for before, after in itertools.pairwise(widths)
            for layer in (torch.nn.Linear(before, after), torch.nn.Tanh())
        ]
        model = torch.nn.Sequential(*layers, torch.nn.Linear(widths[-1], 3))
        optimizer = (torch.optim.AdamW if adam else torch.optim.SGD)(model.parameters(), rate)
        batches = ResumableBatches(256, 32, seed)
        begun = error(model(inputs), targets).item()
        callback = tune(model, optimizer, batches, 500) if tuned else None
        for number in itertools.count():
            if not callback.running if callback else number == 500:
                break
            if callback is None:  # as the tuner's own start: linear warm-up, a fifth of decay
                share = min(1.0, (number + 1) / 25, (500 - number) / 95)
                optimizer.param_groups[0]["lr"] = rate * share
            batch = next(batches)
            loss = error(model(inputs[batch]), targets[batch])
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            if callback is not None:
                callback.step(loss)
        assert callback is None or callback.tuner.state.spent <= 550
        return begun, error(model(inputs), targets).item()

    good = 0.01 if adam else 0.1
    begun, far_off = end_of(good * 10.0**off, tuned=True)
    # The interval's middle is up to a decade below the best rate of the trials.
    reached = end_of(good / 10, tuned=False)[1]
    assert begun - far_off > 0.5 * (begun - reached)
    own = end_of(good * 10.0**off, tuned=False)[1]
    assert not far_off > own + 0.1 * (begun - reached)
