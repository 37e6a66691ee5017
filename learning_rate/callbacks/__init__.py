"""The trainer's side of tuning: `TuningCallback` for a PyTorch loop, and others around it.

PyTorch and the frameworks are imported when a callback is made, not before.
"""

from topoloom.learning_rate.callbacks.batch_replay import Tape
from topoloom.learning_rate.callbacks.batches import ResumableBatches
from topoloom.learning_rate.callbacks.hugging_face import hugging_face_callback
from topoloom.learning_rate.callbacks.lightning import lightning_callback
from topoloom.learning_rate.callbacks.loop import TuningCallback
from topoloom.learning_rate.callbacks.ranks import Ranks

__all__ = [
    "Ranks",
    "ResumableBatches",
    "Tape",
    "TuningCallback",
    "hugging_face_callback",
    "lightning_callback",
]
