"""The service and the command line: the only package that knows HTTP, SQL and time."""
