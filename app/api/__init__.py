"""HTTP service: the application, its routes and the HTTP rules of both."""
