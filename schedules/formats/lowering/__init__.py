"""Lower schedules to transfers and buffer moves."""
