"""Process groups of a training job, and the collectives of groups that run at once.

Read the modules in this order:

- `process_groups`: sizes of parallelism, ranks on hosts, the table of groups;
- `member_topology`: the part of a topology that belongs to one group;
- `one_group`: the best rate of one group, on its own links or with the whole fabric.
"""
