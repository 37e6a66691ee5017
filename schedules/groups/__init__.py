"""Process groups of a training job, and the collectives of groups that run at once.

Read the modules in this order:

- `process_groups`: sizes of parallelism, ranks on hosts, the table of groups;
- `rate`: a rate between two exact bounds;
- `group_symmetry`: automorphisms that map groups to groups;
- `cheapest_trees`: trees of a group under prices of the links;
- `joint_program`, `joint_trees`, `exact_trees`: the best trees of all groups;
- `joint_rate`: the best rate of all groups at once;
- `one_group`: that of one group, on its own links or with the whole fabric;
- `figures`, `request`: all three rates, for groups as users state them;
- `joint_schedule`: schedules of all groups that reach the joint rate.
"""
