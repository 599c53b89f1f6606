"""Rules: what a test has the broker do to requests that match, and to their answers."""
