"""Assign every link of a topology to a channel of the plant."""
