"""GOAL of LogGOPSim: the sends, receives and additions of each rank as text."""
