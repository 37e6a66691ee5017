"""The frontier: enumerate recipes, measure candidates, keep the Pareto-optimal ones."""
