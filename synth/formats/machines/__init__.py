"""Machine descriptions: topology XML of NCCL, and tables of management tools."""
