"""Situations: what goes wrong in production, each one verb."""
