"""Parts of bench_learning_rate: tasks, methods, single runs, tables."""
