"""Topologies: what they are, how they are made, what they cost, how they are wired.

Start with `synth.topology.topology` (the graph), `synth.recipes.recipe` (how a graph is made),
`synth.evaluation.cost` (what it costs) and `synth.search.frontier` (which is best).  This package
imports nothing else of Topoloom.
"""
