"""Differences that are allowed, each with its reason."""
