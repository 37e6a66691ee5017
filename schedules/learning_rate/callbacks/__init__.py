"""The trainer's side of tuning: `TuningCallback` for a PyTorch loop.

PyTorch is imported when a callback is made, not before.
"""

from schedules.learning_rate.callbacks.batches import ResumableBatches
from schedules.learning_rate.callbacks.loop import TuningCallback

__all__ = ["ResumableBatches", "TuningCallback"]
