"""Topologies: what they are, how they are made, what they cost, how they are wired.

Start with `synth.topology` (the graph), `synth.recipe` (how a graph is made),
`synth.cost` (what it costs) and `synth.search` (which is best).  This package
imports nothing else of Topoloom.
"""
