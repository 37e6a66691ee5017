"""HTTP: each module parses a request, calls one service function, returns."""
