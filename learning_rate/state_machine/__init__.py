"""The tuner as a pure state machine."""
