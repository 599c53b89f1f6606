"""Asking two brokers the same, step by step, and comparing what they answer."""
