"""The page: a browser's view of the service, which uses the public API alone."""
