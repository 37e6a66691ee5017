"""Codes and limits of schedule/1 documents.

The values of a document are those of `schedules.model.schedule`.
"""

OPS = ("copy", "reduce")
"""By code: the target's operation on received data."""
MAX_INTEGER = 2**31 - 1
"""Largest number of a send, of chunks and of trees; columns of sends have 32 bits."""
MAX_WEIGHT = 2**62
"""Largest weight of a tree or route and size of a shard."""
MAX_STEPS = 1_000_000
MAX_SENDS = 20_000_000
MAX_EDGES = 20_000_000
"""Most edges of all trees, or nodes of all paths of a tree schedule, together."""
MAX_ROUTE_NODES = 70_000_000
"""Most nodes of all routes together."""
MAX_PARTS = 16
MAX_PATH = 256
"""Most nodes of an edge or path."""
