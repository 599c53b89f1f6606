"""Throttling: how fast clients may be by their quotas, and for how long they are made to wait."""
