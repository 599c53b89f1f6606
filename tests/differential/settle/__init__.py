"""Waiting until both brokers say the same of what a request may have changed."""
