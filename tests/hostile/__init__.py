"""Clients of ill will: each attack runs against a broker in a process of its own."""
