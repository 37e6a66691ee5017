"""Build and audit the bundled atlas."""
