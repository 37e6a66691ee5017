"""Workloads of training jobs: collectives with sizes and counts, and presets of known models.

Start with `schedules.workloads.tasks`; `presets` lists the known training steps.
"""
