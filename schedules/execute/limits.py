"""Limits of a run."""

MAX_RANKS = 128
MAX_BYTES_IN_ALL = 1 << 32
"""Most bytes of the data times the number of ranks; each rank holds all data."""
MAX_PIPELINE_CHUNKS = 1024
MAX_PIECES = 1 << 22
"""Most edges of all trees times pipeline chunks."""
MAX_REPEAT = 1000
MAX_SECONDS = 86_400.0
