"""Forecast losses and propose learning rates."""
