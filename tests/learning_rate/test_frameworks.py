"""The callbacks for Hugging Face and Lightning, in their real trainers."""

import random

import pytest

from topoloom.learning_rate import InProcess, Options
from topoloom.learning_rate.callbacks import hugging_face_callback, lightning_callback
from topoloom.learning_rate.callbacks.batch_replay import Tape
from topoloom.learning_rate.errors import CannotRestore, InvalidOptions

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


def hugging_face(folder, tuner, accumulated=1, steps=None, resume=None, **more):
    """Return a Trainer with the callback, and its model."""
    transformers = pytest.importorskip("transformers", reason="it is not installed")
    pytest.importorskip("accelerate", reason="it is not installed")
    inputs, targets = data()
    rows = [{"x": x, "labels": y} for x, y in zip(inputs, targets, strict=True)]
    model = Network()
    given = {
        "lr_scheduler_type": "constant", "save_strategy": "no",
        "max_steps": steps or tuner.state.settings.most_steps, **more,
    }  # fmt: skip
    arguments = transformers.TrainingArguments(
        output_dir=str(folder), per_device_train_batch_size=8, learning_rate=0.01, report_to=[],
        gradient_accumulation_steps=accumulated, use_cpu=True, disable_tqdm=True,
        logging_strategy="no", seed=0, max_grad_norm=0.0, **given,
    )  # fmt: skip
    callback = hugging_face_callback(tuner, resume=resume)
    return model, transformers.Trainer(
        model=model, args=arguments, train_dataset=rows, callbacks=[callback]
    )


@pytest.mark.slow
@pytest.mark.parametrize(("accumulated", "ranged"), [(1, False), (2, False), (2, True)])
def test_hugging_faces_trainer_is_tuned(tmp_path, accumulated, ranged):
    inputs, targets = data()
    tuner = Watched(Options(1e-4, 1.0, STEPS, range_test=ranged, **ASKED))
    model, trainer = hugging_face(tmp_path, tuner, accumulated)
    before = torch.nn.functional.mse_loss(model.layers(inputs), targets).item()
    trainer.train()
    spent, step, reason = steps_of(tuner)
    assert (step, reason) == (STEPS, "finished")
    assert trainer.state.global_step == spent > STEPS
    assert bool(tuner.state.tested) == ranged
    assert len(model.seen) == spent * accumulated
    first = first_losses_of_candidates(tuner)
    assert len(first) >= 2 and len(set(first)) == 1  # same model, same batch
    assert torch.nn.functional.mse_loss(model.layers(inputs), targets).item() < before / 2
    count = len(model.seen)
    model(inputs, targets)
    assert len(model.seen) == count + 1


@pytest.mark.slow
def test_hugging_faces_trainer_resumes_the_tuner_bit_for_bit(tmp_path):
    def new(folder, **more):
        tuner = InProcess(Options(1e-4, 1.0, STEPS, **ASKED))
        return tuner, *hugging_face(
            tmp_path / folder, tuner, save_strategy="steps", save_steps=50, **more
        )

    tuner, model, trainer = new("whole")
    trainer.train()
    folder = tmp_path / "whole" / "checkpoint-150"  # as after a kill at any later step
    again, resumed, trainer = new("whole")
    trainer.train(resume_from_checkpoint=str(folder))
    assert again.state == tuner.state
    assert all(map(torch.equal, resumed.state_dict().values(), model.state_dict().values()))
    again, _, trainer = new("elsewhere")
    with pytest.raises(CannotRestore, match="/resume: must name the folder"):
        trainer.train(resume_from_checkpoint=str(folder))
    again, resumed, trainer = new("elsewhere", resume=folder)
    trainer.train(resume_from_checkpoint=str(folder))
    assert again.state == tuner.state


@pytest.mark.slow
def test_hugging_faces_trainer_is_refused_what_would_harm_in_silence(tmp_path):
    tuner = InProcess(Options(1e-4, 1.0, STEPS, **ASKED))
    with pytest.raises(InvalidOptions, match=r"/max_steps: must be at least 312: 240 steps"):
        hugging_face(tmp_path, tuner, steps=STEPS)[1].train()
    with pytest.raises(InvalidOptions, match="/lr_scheduler_type: must be constant; is linear"):
        hugging_face(tmp_path, tuner, lr_scheduler_type="linear")[1].train()


def lightning_run(folder, tuner, accumulated=1, steps=None, save_every=None, scheduler=False):
    """Return a Lightning trainer with the callback, its module and its loader."""
    lightning = pytest.importorskip("lightning.pytorch", reason="it is not installed")
    inputs, targets = data()

    class Module(lightning.LightningModule):
        def __init__(self):
            super().__init__()
            self.network = Network()
            self.moved = []

        def transfer_batch_to_device(self, batch, device, dataloader_idx):
            self.moved.append(float(batch[0].sum()))
            return super().transfer_batch_to_device(batch, device, dataloader_idx)

        def training_step(self, batch, batch_idx):
            return self.network(*batch)["loss"]

        def configure_optimizers(self):
            optimizer = torch.optim.AdamW(self.parameters(), lr=0.01)
            if not scheduler:
                return optimizer
            return [optimizer], [torch.optim.lr_scheduler.ExponentialLR(optimizer, 0.9)]

    torch.manual_seed(0)
    rows = torch.utils.data.TensorDataset(inputs, targets)
    # Shuffled by the number of the epoch: Lightning does not restore the order of other samplers.
    sampler = torch.utils.data.DistributedSampler(rows, num_replicas=1, rank=0)
    loader = torch.utils.data.DataLoader(rows, batch_size=8, sampler=sampler)
    callbacks = [lightning_callback(tuner)]
    if save_every:
        callbacks.append(
            lightning.callbacks.ModelCheckpoint(
                folder, "{step}", every_n_train_steps=save_every, save_top_k=-1
            )
        )
    trainer = lightning.Trainer(
        max_steps=steps or tuner.state.settings.most_steps, max_epochs=-1, accelerator="cpu",
        callbacks=callbacks, logger=False, enable_checkpointing=bool(save_every),
        enable_progress_bar=False, enable_model_summary=False, default_root_dir=folder,
        accumulate_grad_batches=accumulated,
    )  # fmt: skip
    return Module(), loader, trainer


@pytest.mark.slow
@pytest.mark.parametrize(("accumulated", "ranged"), [(1, False), (2, False), (2, True)])
def test_lightnings_trainer_is_tuned(tmp_path, accumulated, ranged):
    tuner = Watched(Options(1e-4, 1.0, STEPS, range_test=ranged, **ASKED))
    module, loader, trainer = lightning_run(tmp_path, tuner, accumulated)
    trainer.fit(module, loader)
    spent, step, reason = steps_of(tuner)
    assert (step, reason) == (STEPS, "finished")
    assert trainer.global_step == spent > STEPS
    assert bool(tuner.state.tested) == ranged
    first = first_losses_of_candidates(tuner)
    assert len(first) >= 2 and len(set(first)) == 1
    assert "on_before_batch_transfer" not in vars(module)
    # Every batch goes to the device once: it is exchanged before, in main memory.
    assert module.moved == [batch for batch, _ in module.network.seen]


@pytest.mark.slow
def test_lightnings_trainer_resumes_the_tuner_bit_for_bit(tmp_path):
    epoch = 256 // 8

    def new():
        tuner = InProcess(Options(1e-4, 1.0, STEPS, **ASKED))
        return tuner, *lightning_run(tmp_path, tuner, save_every=epoch)

    tuner, module, loader, trainer = new()
    trainer.fit(module, loader)
    saved = tmp_path / f"step={4 * epoch}.ckpt"
    again, resumed, loader, trainer = new()
    trainer.fit(resumed, loader, ckpt_path=saved)
    assert again.state == tuner.state
    assert all(map(torch.equal, resumed.state_dict().values(), module.state_dict().values()))


@pytest.mark.slow
def test_lightnings_trainer_is_refused_what_would_harm_in_silence(tmp_path):
    tuner = InProcess(Options(1e-4, 1.0, STEPS, **ASKED))
    module, loader, trainer = lightning_run(tmp_path, tuner, steps=STEPS)
    with pytest.raises(InvalidOptions, match=r"/max_steps: must be at least 312: 240 steps"):
        trainer.fit(module, loader)
    module, loader, trainer = lightning_run(tmp_path, tuner, scheduler=True)
    with pytest.raises(InvalidOptions, match="/lr_schedulers: must be left out"):
        trainer.fit(module, loader)


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
            tape.keep_only([position for position, _ in marks])
            kept.append(tape.exchanged(next(came)))
        assert kept == list(range(len(kept)))


def test_a_tape_holds_the_batches_since_the_oldest_checkpoint_and_no_others():
    tape = Tape()
    for batch in range(100):
        tape.exchanged(batch)
        assert len(tape._held) == 0
        if batch % 10 == 9:
            tape.keep_only([tape.state_dict(), {"position": batch}])
            for number in range(5):
                tape.exchanged(number)
            assert len(tape._held) == 5
            tape.keep_only([])
    with pytest.raises(InvalidOptions, match="/position: 0 is not on the tape"):
        tape.load_state_dict({"position": 0})


@pytest.mark.parametrize("limit", [{"most": 3}, {"most": 99, "most_bytes": 3 * 40}])
def test_a_tape_drops_batches_that_arrive_in_a_replay_beyond_its_limit(limit, caplog):
    batches = [torch.full((10,), float(number)) for number in range(100)]
    tape, came = Tape(**limit), iter(batches)
    tape.keep_only([tape.state_dict()])
    first = [tape.exchanged(next(came)) for _ in range(10)]
    tape.load_state_dict({"position": 0})
    again = [tape.exchanged(next(came)) for _ in range(10)]
    assert all(a is b for a, b in zip(first, again, strict=True))
    assert tape.dropped == 8
    assert [record.levelname for record in caplog.records] == ["WARNING"]
    following = [int(tape.exchanged(next(came))[0]) for _ in range(10)]
    assert following[:3] == [18, 19, 20]


def test_a_negative_limit_is_named():
    with pytest.raises(InvalidOptions, match="/remembered"):
        Tape(-1)
