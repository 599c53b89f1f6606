"""Sequences drawn from a seed."""
