"""One function per use case, called by REST routes and the command line."""
