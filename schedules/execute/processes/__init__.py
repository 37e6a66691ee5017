"""Local processes, one per rank."""
