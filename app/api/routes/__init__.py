"""Routes: each module parses requests, calls one service function, and returns."""
