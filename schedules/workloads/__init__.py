"""What a training job sends: collectives with sizes and counts, and presets of known models.

Start with `schedules.workloads.tasks`; `presets` lists what is known by name.
"""
