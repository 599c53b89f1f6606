"""Sockets, connections, and how a request gets from its frame to its handler and back."""
