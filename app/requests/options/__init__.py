"""One table of options: what may be asked, in which units, within which limits.

Fields of requests, options of the command line, parameters of queries and the tables of
docs/reference/ are all made from the entries of `app.requests.options.table`; the options that name
a topology are in `app.requests.options.topology_source`.  So all say the same.
"""
