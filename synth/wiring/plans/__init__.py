"""Patch plans: moves, stages, documents, and work orders."""
