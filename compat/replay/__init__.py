"""Replaying a journal of requests against any broker."""
