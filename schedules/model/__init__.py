"""What a collective demands and what a schedule is."""
