"""Terms, short names of topologies, and suggestions for mistyped names."""
