"""Who may ask what, and how often: API keys, the scopes of routes, rates."""
