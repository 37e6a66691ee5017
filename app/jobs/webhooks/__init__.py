"""Webhooks: a signed POST when a job has ended, to hosts that the configuration allows.

Each attempt resolves the host name once, checks the address, and connects to the checked address;
changing the DNS entry after the check has no effect.  Redirects are not followed.
"""
