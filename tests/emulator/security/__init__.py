"""Tests of emulator/security and emulator/guards."""
