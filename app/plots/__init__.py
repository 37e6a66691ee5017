"""Plots of frontiers, times, link loads and trees, as PNG or SVG; needs the extra ``plots``.

Each module draws documents or schedules; matplotlib is loaded at the first drawing.  Plots are
reproducible byte for byte with the same matplotlib.
"""
