"""The callbacks for Hugging Face and Lightning, in their real trainers."""

import random

import pytest

from topoloom.learning_rate import InProcess, Options
from topoloom.learning_rate.callbacks import hugging_face_callback, lightning_callback
from topoloom.learning_rate.callbacks.batch_replay import Tape
from topoloom.learning_rate.errors import InvalidOptions

torch = pytest.importorskip("torch", reason="the extra `execute` is not installed")
pytest.importorskip("sklearn", reason="the extra `tune` is not installed")

STEPS = 240
ASKED = {"candidates": 3, "max_overhead": 0.3, "anchor": "cosine"}
# The frameworks' own warnings are theirs.
pytestmark = pytest.mark.filterwarnings("ignore")


def data(count=256):
    generator = torch.Generator().manual_seed(0)
    inputs = torch.randn(count, 5, generator=generator)
    return inputs, (inputs**2).sum(dim=1, keepdim=True)


class Network(torch.nn.Module):
    """A model in the way of Hugging Face, which notes the batches and the losses it saw."""

    def __init__(self):
        super().__init__()
        torch.manual_seed(0)
        self.layers = torch.nn.Sequential(
            torch.nn.Linear(5, 16), torch.nn.Tanh(), torch.nn.Linear(16, 1)
        )
        self.seen = []

    def forward(self, x, labels=None):
        output = self.layers(x)
        loss = torch.nn.functional.mse_loss(output, labels)
        if self.training:
            self.seen.append((float(x.sum()), loss.item()))
        return {"loss": loss, "logits": output}


def steps_of(tuner):
    return tuner.state.spent, tuner.state.step, tuner.action.reason


class Watched(InProcess):
    """A tuner that notes which losses were reported, by phase and candidate."""

    def __init__(self, options):
        super().__init__(options)
        self.told = []

    def observe(self, losses=()):
        state = self.state
        self.told.append((state.phase, state.stage, len(state.attempts), list(losses)))
        return super().observe(losses)


def first_losses_of_candidates(tuner):
    """Return what each candidate of the first stage was told first."""
    found = {}
    for phase, stage, attempt, losses in tuner.told:
        if phase == "trial" and stage == 0 and losses:
            found.setdefault(attempt, losses[0])
    return list(found.values())


@pytest.mark.slow
@pytest.mark.parametrize("accumulated", [1, 2])
def test_hugging_faces_trainer_is_tuned(tmp_path, accumulated):
    transformers = pytest.importorskip("transformers", reason="it is not installed")
    pytest.importorskip("accelerate", reason="it is not installed")
    inputs, targets = data()
    rows = [{"x": x, "labels": y} for x, y in zip(inputs, targets, strict=True)]
    model, tuner = Network(), Watched(Options(1e-4, 1.0, STEPS, **ASKED))
    arguments = transformers.TrainingArguments(
        output_dir=str(tmp_path), max_steps=tuner.state.settings.most_steps,
        per_device_train_batch_size=8, gradient_accumulation_steps=accumulated,
        lr_scheduler_type="constant", learning_rate=0.01, report_to=[], save_strategy="no",
        use_cpu=True, disable_tqdm=True, logging_strategy="no", seed=0, max_grad_norm=0.0,
    )  # fmt: skip
    trainer = transformers.Trainer(
        model=model, args=arguments, train_dataset=rows, callbacks=[hugging_face_callback(tuner)]
    )
    before = torch.nn.functional.mse_loss(model.layers(inputs), targets).item()
    trainer.train()
    spent, step, reason = steps_of(tuner)
    assert (step, reason) == (STEPS, "finished")
    assert trainer.state.global_step == spent > STEPS
    assert len(model.seen) == spent * accumulated
    first = first_losses_of_candidates(tuner)
    assert len(first) >= 2 and len(set(first)) == 1  # same model, same batch
    assert torch.nn.functional.mse_loss(model.layers(inputs), targets).item() < before / 2
    count = len(model.seen)
    model(inputs, targets)
    assert len(model.seen) == count + 1


@pytest.mark.slow
@pytest.mark.parametrize("accumulated", [1, 2])
def test_lightnings_trainer_is_tuned(tmp_path, accumulated):
    lightning = pytest.importorskip("lightning.pytorch", reason="it is not installed")
    inputs, targets = data()

    class Module(lightning.LightningModule):
        def __init__(self):
            super().__init__()
            self.network = Network()

        def training_step(self, batch, batch_idx):
            return self.network(*batch)["loss"]

        def configure_optimizers(self):
            return torch.optim.AdamW(self.parameters(), lr=0.01)

    module, tuner = Module(), Watched(Options(1e-4, 1.0, STEPS, **ASKED))
    loader = torch.utils.data.DataLoader(
        torch.utils.data.TensorDataset(inputs, targets), batch_size=8, shuffle=True
    )
    trainer = lightning.Trainer(
        max_steps=tuner.state.settings.most_steps, max_epochs=-1, accelerator="cpu",
        callbacks=[lightning_callback(tuner)], logger=False, enable_checkpointing=False,
        enable_progress_bar=False, enable_model_summary=False, default_root_dir=tmp_path,
        accumulate_grad_batches=accumulated,
    )  # fmt: skip
    trainer.fit(module, loader)
    spent, step, reason = steps_of(tuner)
    assert (step, reason) == (STEPS, "finished")
    assert trainer.global_step == spent > STEPS
    first = first_losses_of_candidates(tuner)
    assert len(first) >= 2 and len(set(first)) == 1
    assert "on_after_batch_transfer" not in vars(module)


def test_a_tape_gives_every_batch_once_on_the_branch_that_is_kept():
    chance = random.Random(0)
    for _ in range(50):
        tape, came, kept, marks = Tape(1000), iter(range(10**6)), [], []
        for _ in range(200):
            if marks and chance.random() < 0.1:
                position, length = chance.choice(marks)
                tape.load_state_dict(position)
                del kept[length:]
                marks = [mark for mark in marks if mark[1] <= length]
            if chance.random() < 0.2:
                marks.append((tape.state_dict(), len(kept)))
            kept.append(tape.exchanged(next(came)))
        assert kept == list(range(len(kept)))


def test_a_tape_holds_no_more_than_it_may():
    tape = Tape(5)
    for batch in range(100):
        tape.exchanged(batch)
    assert len(tape._held) == 5
    tape.load_state_dict({"position": 0})
    assert tape.exchanged(100) == 95
    with pytest.raises(InvalidOptions, match="/most"):
        Tape(0)
