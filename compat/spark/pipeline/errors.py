"""PipelineError: why a command cannot do what it was asked."""

from __future__ import annotations


class PipelineError(Exception):
    """The text is one line for the user. The command ends with status 2."""
