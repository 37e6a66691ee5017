"""Linear program that divides link capacity between passes, with its certificate."""
