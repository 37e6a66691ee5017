"""Boxes of accelerators joined by cables: one topology from a box and a topology between boxes.

Read the modules in this order: `box_fabric` joins copies of a box, `expression` reads the text
``Boxes(dgx-h100, Circulant(16, 1, 2, 3, 4))``, `racks` chooses the
boxes of each rack, `cable_classes` counts cables by class.
"""
