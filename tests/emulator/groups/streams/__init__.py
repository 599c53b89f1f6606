"""Streams groups, without a broker."""
