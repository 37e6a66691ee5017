"""What each rank sends and receives, derived from a schedule."""
