"""Plots of frontiers, times, link loads and trees, as PNG or SVG; needs the extra ``plots``.

Each module draws documents or schedules that other parts made; matplotlib is loaded when
something is drawn.  The same input and the same matplotlib give the same bytes.
"""
