"""Settings that all tests share."""

from hypothesis import settings

# The first example of a test may compile kernels, which no deadline should count.
settings.register_profile("no-deadline", deadline=None)
settings.load_profile("no-deadline")
