"""Logging in over SASL: a state machine that knows no socket, and the mechanisms."""
