"""Carry out plans: progress, observed state, faults, and repair."""
