"""Runtimes that load exported programs, and their limits."""
