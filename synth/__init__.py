"""Topologies: the graph type, construction, costs, search, and wiring.

Start with `synth.topology.topology` (the graph), `synth.recipes.recipe` (construction),
`synth.evaluation.cost` (costs) and `synth.search.frontier` (search).  This package imports no
other package of Topoloom.
"""
