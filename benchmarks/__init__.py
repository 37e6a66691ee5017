"""Benchmarks: the source of every figure in docs/benchmarks.md."""
