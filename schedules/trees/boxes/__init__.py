"""Trees between boxes first, spread inside each box afterwards."""
