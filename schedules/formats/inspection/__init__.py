"""Inspect exported files: dialect, requirements, traffic, verification."""
