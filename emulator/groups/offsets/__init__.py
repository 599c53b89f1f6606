"""Committed offsets of groups, of both protocols."""
