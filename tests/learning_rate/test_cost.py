"""The cost of tuning: memory of checkpoints and batches, waits for the device."""

from contextlib import contextmanager

import pytest

from topoloom.learning_rate import InProcess, Options
from topoloom.learning_rate.callbacks import TuningCallback
from topoloom.learning_rate.callbacks.snapshot import take

torch = pytest.importorskip("torch", reason="the extra `execute` is not installed")
pytest.importorskip("sklearn", reason="the extra `tune` is not installed")

pytestmark = pytest.mark.usefixtures("one_thread")
STEPS = 240
OPTIONS = Options(1e-4, 0.3, STEPS, candidates=3, max_overhead=0.3)


@contextmanager
def counted_reads():
    """Count how often a number is read from a tensor, which waits for a CUDA device."""
    from torch.utils._python_dispatch import TorchDispatchMode

    found = []

    class Reads(TorchDispatchMode):
        def __torch_dispatch__(self, operation, types, args=(), kwargs=None):
            if operation is torch.ops.aten._local_scalar_dense.default:
                found.append(operation)
            return operation(*args, **(kwargs or {}))

    with Reads():
        yield found


class Training:
    """A linear regression on batches of a DataLoader."""

    def __init__(self, tuner=None, **more):
        torch.manual_seed(0)
        self.model = torch.nn.Linear(3, 1)
        self.optimizer = torch.optim.SGD(self.model.parameters(), 0.1, momentum=0.9)
        inputs = torch.randn(40, 3)
        rows = torch.utils.data.TensorDataset(inputs, inputs.sum(1, keepdim=True))
        loader = torch.utils.data.DataLoader(rows, batch_size=4, shuffle=True)
        self.tuner = tuner or InProcess(OPTIONS)
        self.callback = TuningCallback(self.tuner, self.model, self.optimizer, data=loader, **more)

    def one_step(self, batch):
        loss = torch.nn.functional.mse_loss(self.model(batch[0]), batch[1])
        self.optimizer.zero_grad()
        loss.backward()
        self.optimizer.step()
        return loss


class Counting(InProcess):
    """A tuner that notes the checkpoints there are after each save, and those that may be used."""

    def __init__(self, options):
        super().__init__(options)
        self.slots, self.noted = list, []

    def observe(self, losses=()):
        if self.action.do == "save":
            self.noted.append((self.slots(), self.action.keep))
        return super().observe(losses)


@pytest.mark.parametrize("on_disk", [False, True], ids=["memory", "disk"])
def test_there_are_never_more_checkpoints_than_the_tuner_may_restore(on_disk, tmp_path):
    tuner = Counting(OPTIONS)
    training = Training(tuner, folder=tmp_path if on_disk else None)
    tuner.slots = training.callback._checkpoints.slots
    for batch in training.callback:
        training.callback.step(training.one_step(batch))
        if on_disk:
            names = {path.stem for path in tmp_path.iterdir()}
            assert names == {f"topoloom-{slot}" for slot in tuner.slots()}
    assert all(set(slots) <= set(keep) for slots, keep in tuner.noted)
    assert max(len(slots) for slots, _ in tuner.noted) > 2


def test_a_loader_holds_the_batches_since_the_oldest_checkpoint():
    training = Training()
    data, held = training.callback._data, []
    for batch in training.callback:
        positions = training.callback._checkpoints._positions.values()
        oldest = min((one["position"] for one in positions), default=data._tape.end)
        held.append(len(data._tape._held))
        assert held[-1] == data._tape.end - oldest
        training.callback.step(training.one_step(batch))
    assert 0 < max(held) < STEPS / 3


def test_no_loss_is_read_before_a_segment_of_steps_ends():
    # Without an anchor the rate is constant in a segment.
    options = Options(1e-4, 0.3, STEPS, anchor="none", candidates=3, max_overhead=0.3)
    training, segments = Training(InProcess(options)), set()
    for batch in training.callback:
        loss = training.one_step(batch)
        ends = len(training.callback._losses) + 1 == training.tuner.action.steps
        segments.add(training.tuner.action.steps)
        with counted_reads() as found:
            training.callback.step(loss)
        assert ends or not found
    assert max(segments) > 5


def test_a_loss_that_changes_after_its_report_is_reported_as_it_was():
    states = []
    for changed in (False, True):
        training = Training()
        for batch in training.callback:
            loss = training.one_step(batch)
            training.callback.step(loss)
            if changed:
                loss.data.fill_(1e9)  # as a graph of CUDA does, which reuses the memory
        states.append(training.tuner.state)
    assert states[0] == states[1]


def test_a_checkpoint_shares_no_memory_with_the_training():
    training = Training()
    parts = training.callback._parts
    for batch in training.callback:
        training.callback.step(training.one_step(batch))
        break
    snapshot = take(parts)["parts"]
    assert type(snapshot["model"]) is type(training.model.state_dict())
    assert snapshot["model"]._metadata == training.model.state_dict()._metadata
    saved = [*snapshot["model"].values(), snapshot["optimizer"]["state"][0]["momentum_buffer"]]
    live = [
        *training.model.state_dict().values(),
        *(s["momentum_buffer"] for s in training.optimizer.state.values()),
    ]
    assert not {one.data_ptr() for one in saved} & {one.data_ptr() for one in live}
    assert all(torch.equal(a, b) for a, b in zip(saved, live, strict=False))


def test_the_count_of_reads_sees_a_read():
    with counted_reads() as found:
        float(torch.ones(()))
    assert len(found) == 1
