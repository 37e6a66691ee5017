"""A back end of torch.distributed that runs collectives by the schedules of a design.

`topoloom.torch` registers the back end.  Read the modules in this order: `design_schedules` (which
schedule runs which size), `shared_schedules` (rank 0 makes a schedule for all), `scheduled_group`
(the process group), `pending_work` (asynchronous calls).
"""
