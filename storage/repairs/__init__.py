"""Checking and repairing a log directory that nobody has open: `odradek repair`."""
