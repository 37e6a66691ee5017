"""Recipes: operators on families, the parser, theorems about costs, and construction."""
