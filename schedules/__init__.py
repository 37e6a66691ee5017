"""What runs on a topology: schedules, their proof, their time and their file formats.

Start with `schedules.model.schedule` (what a schedule is).  This package imports `synth` and
nothing else of Topoloom.
"""
