"""How much may be run at once."""

MAX_RANKS = 128
MAX_BYTES_IN_ALL = 1 << 32
"""Size of the data times the number of ranks, each of which holds all of it."""
MAX_PIPELINE_CHUNKS = 1024
MAX_PIECES = 1 << 22
"""Edges of all trees times pipeline chunks."""
MAX_REPEAT = 1000
MAX_SECONDS = 86_400.0
