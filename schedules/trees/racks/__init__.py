"""Contract racks to single ranks and expand the packed trees."""
