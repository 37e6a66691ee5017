"""Integer networks, maximum flow, and the optimal rate of a network."""
