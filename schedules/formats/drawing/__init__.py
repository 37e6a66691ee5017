"""Drawings of trees: Graphviz DOT and GraphML."""
