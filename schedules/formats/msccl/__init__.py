"""MSCCL XML: programs for runtimes that run a file in place of a collective."""
