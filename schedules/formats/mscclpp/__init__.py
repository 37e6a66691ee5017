"""MSCCL++ execution plans: JSON for the executor of that library."""
