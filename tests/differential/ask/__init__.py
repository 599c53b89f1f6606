"""Requests and record batches in few words, for cases and drawn sequences."""
