"""What a machine says of its accelerators: topology XML of NCCL, tables of management tools."""
