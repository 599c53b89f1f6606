"""Configs: their definitions and rules, and what a broker, a topic, a group or a logger has."""
