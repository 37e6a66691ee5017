"""Time of a traced program over latency and bandwidth of the network, as exact curves.

Read the modules in this order:

- `network`: rates inside a host, overhead of a message, measured times of reductions and copies;
- `ring_collective`: what a collective in rings sends, step by step; equal collectives share it;
- `ring_time`: its time at one latency and bandwidth, with the latencies and bytes on the critical
  path;
- `convex_curve`: all pieces of a convex function that is linear by pieces;
- `program`: the collectives of one rank, in streams, with the gaps between them;
- `curves`: its curves, and what slows it down by a share.

The model is that of LogGP linear programs, solved without one: the time of a critical path is
linear in latency and in 1/bandwidth, and the time of a program is the maximum over its paths.
"""
