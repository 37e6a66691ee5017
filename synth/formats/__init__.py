"""Graphs that people have, as text: readers and writers, each format by a name.

`read` takes what other programs write, `WRITERS` makes what they read; what machines say of
themselves is in `synth.formats.machines`.  Every reader takes text and returns a `Topology`,
or raises one `InvalidTopology` whose field is the place, ``/line/7`` or a JSON pointer.
Capacities are exact.
"""

from topoloom.synth.formats.readers import MAX_CHARACTERS, OPTIONS, READABLE, detect, read
from topoloom.synth.formats.writers import WRITERS

__all__ = [
    "MAX_CHARACTERS",
    "OPTIONS",
    "READABLE",
    "WRITERS",
    "detect",
    "read",
]
