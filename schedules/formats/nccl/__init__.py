"""NCCL tuner tables: which of NCCL's own algorithms to take at which size."""
