"""Files for schedulers: trees, blocks and tori for Slurm, labels and levels for Kubernetes."""
