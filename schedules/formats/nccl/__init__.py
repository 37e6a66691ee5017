"""NCCL tuner tables: a choice among NCCL's own algorithms by size."""
