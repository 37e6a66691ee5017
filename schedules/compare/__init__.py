"""Compare algorithms by message size: time models, crossover sizes, bandwidths."""
