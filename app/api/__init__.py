"""HTTP: the application, its routes, and what HTTP expects of both."""
