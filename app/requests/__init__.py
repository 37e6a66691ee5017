"""Request bodies, their options and limits, shared by REST and the command line."""
