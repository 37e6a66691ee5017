"""Collective schedules: generation, proof, run time and file formats.

Start with `schedules.model.schedule`, which defines a schedule.  This package imports `synth` and
no other package of Topoloom.
"""
