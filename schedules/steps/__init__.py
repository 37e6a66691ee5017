"""Step schedules: breadth-first broadcast, slack schedules, lifted schedules."""
