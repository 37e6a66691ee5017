"""Access control: API keys, scopes of routes, rate limits."""
