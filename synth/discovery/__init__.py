"""Search for new base topologies: voltage lifts over finite groups, improved by annealing.

`lift_cost` defines voltage lifts and computes their cost, `anneal` improves a lift, and
`annealing_rounds` chooses what to try and keeps the best.  Results are data: `synth.atlas`.
"""
