"""Logins at the emulator and at a real Kafka with the same listeners: every answer compared."""
