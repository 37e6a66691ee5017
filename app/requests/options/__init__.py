"""One table of options: what may be asked, in which units, within which limits.

Fields of requests, options of the command line, parameters of queries and the tables of
docs/cli.md and docs/api.md are all made from the entries of `app.requests.options.table`, those of
naming a topology from `app.requests.options.topology_source`, so none can say something else than
another.
"""
