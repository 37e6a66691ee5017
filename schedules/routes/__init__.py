"""All-to-all: optimal routes and bounds."""
