"""The table of options: names, types, units, limits and help texts.

Request fields, CLI options, query parameters and the tables of docs/reference/ are generated from
`app.requests.options.table`; the options of a topology source are in
`app.requests.options.topology_source`.
"""
