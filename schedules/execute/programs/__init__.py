"""Programs of ranks, derived from a schedule: the sends and receives of each rank."""
