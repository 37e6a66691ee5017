"""The optimum of a collective, its proof, and the value of every link."""
