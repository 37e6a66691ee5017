"""Graphs that people have, as text: readers and writers, each format by a name.

`read` takes what other programs write, `WRITERS` makes what they read; what machines say of
themselves is in `synth.formats.dumps`.
"""

from synth.formats.read import MAX_CHARACTERS, READERS, TAKES_LINK_BANDWIDTH, detect, read
from synth.formats.write import WRITERS

__all__ = ["MAX_CHARACTERS", "READERS", "TAKES_LINK_BANDWIDTH", "WRITERS", "detect", "read"]
