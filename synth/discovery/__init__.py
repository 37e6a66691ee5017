"""Finds new base topologies: voltage lifts over finite groups, improved by random moves.

`voltage` says what a lift is, `evaluate` costs one quickly, `anneal` improves one, `explore`
decides what to try and keeps the best.  What was found is data: `synth.atlas`.
"""
