"""What is raised where something optional is missing; a test that meets it is skipped."""

from __future__ import annotations


class Unavailable(Exception):
    """Something optional is not here: Java, Maven, a client library. The text is one sentence."""
