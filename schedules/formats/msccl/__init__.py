"""MSCCL XML: programs for the run times that replace a collective by a file."""
