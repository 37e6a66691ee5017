"""One training iteration of a job with parallel groups, as an event simulation.

Read the modules in this order:

- `operations`, `link_sharing`, `event_simulation`: computations and communications with their
  order, the speeds of communications that share links, start and end of every operation;
- `training_job`, `pipeline_schedules`, `messages`, `job_operations`: layers and parallelism of a
  job, the order of microbatches, what layers send, the operations of one iteration;
- `communications`, `fabric`, `path_loads`, `group_loads`: the interface to a network, hosts with
  ranks, loads along shortest paths, the collectives of all groups of a kind;
- `iteration`, `sensitivity`: the time of an iteration, its phases, what limits;
- `traced_operations`: the operations that a traced job lists instead of layers;
- `candidates`, `best_topology`, `iteration_design`: the topology and placement of least time;
- `accelerators`, `model_layers`, `presets`, `job_request`: public rates, models and layouts.
"""
