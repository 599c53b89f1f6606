"""Brokers that are broken on purpose."""
