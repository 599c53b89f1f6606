"""Tests of emulator/security/authorizer."""
