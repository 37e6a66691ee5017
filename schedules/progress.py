"""How far long work is, as said by schedules: `synth.progress`, by the name it had first."""

from synth.progress import Listener, listened, tell

__all__ = ["Listener", "listened", "tell"]
