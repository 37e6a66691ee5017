"""Terms, short names of topologies, suggestions for mistyped names, and names given twice."""
