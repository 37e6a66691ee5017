"""Traces of training jobs, read in as jobs of operations.

Read the modules in this order: `nodes`, `chakra_nodes`, `chakra_json`, `kernel_trace` (one rank),
`rank_grid` (process groups as dimensions), `node_order`, `job_model` (all ranks).
"""
