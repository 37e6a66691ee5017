"""Durable jobs: queued once, run by any worker of the database, ended exactly once.

`facade` is the public job API.  `transitions` guards every change of state in the job tables,
`dbos_queue` distributes jobs to workers (the only module that imports DBOS Transact), and
`worker` runs the jobs.
"""
