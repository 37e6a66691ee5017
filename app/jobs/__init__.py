"""Durable jobs: queued once, run by any worker of the database, ended exactly once.

The job tables are the queue.  `facade` is the public job API, `transitions` takes the next job and
guards every change of state, and `worker` runs the jobs.
"""
