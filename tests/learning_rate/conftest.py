"""Fixtures: PyTorch on one thread."""

import pytest


@pytest.fixture
def one_thread():
    """Compute with one thread: sums are the same on any machine, and busy ones do not stall."""
    torch = pytest.importorskip("torch", reason="the extra `execute` is not installed")
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)
