"""Webhooks: a signed POST when a job has ended, to hosts that the configuration allows.

`targets` checks URLs, `post` sends one request, `deliveries` changes the rows, `agenda` decides
when an attempt is due, `messenger` sends the due deliveries, and `document` shows them to clients.
`app.webhook_signatures` signs and verifies messages.
"""
