"""Exact costs of topologies, lower bounds, and the kernels that measure costs."""
