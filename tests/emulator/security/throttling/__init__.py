"""Tests of emulator/security/throttling."""
