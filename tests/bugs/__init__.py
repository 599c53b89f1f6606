"""Bugs that people ship in services, and how soon a promise finds each."""
