"""Benchmarks: every figure of docs/benchmarks.md comes from here."""
