"""One training iteration of a job with parallel groups, as an event simulation.

Read the modules in this order:

- `operations`: computations and communications with their order;
- `link_sharing`: the speeds of communications that share links;
- `event_simulation`: start and end of every operation;
- `training_job`: layers, microbatches and parallelism of a job;
- `pipeline_schedules`: the order of microbatches in every pipeline stage;
- `job_operations`: the operations of one iteration of a job;
- `fabric`: hosts, accelerators inside them, and ranks on hosts;
- `group_loads`: the link loads of the collectives of all groups of a kind;
- `iteration`: the time of an iteration, its phases and its sensitivity;
- `best_topology`: the topology and placement of least iteration time.
"""
