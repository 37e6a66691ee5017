"""Settings of all tests."""

from hypothesis import HealthCheck, settings

# The first example of a kernel's test waits for its compilation.
settings.register_profile(
    "topoloom", deadline=None, derandomize=True, suppress_health_check=[HealthCheck.too_slow]
)
settings.load_profile("topoloom")
