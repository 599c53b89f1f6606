"""Tests of the schema registry."""
