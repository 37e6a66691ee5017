"""Generate schedules for every collective and verify them."""
