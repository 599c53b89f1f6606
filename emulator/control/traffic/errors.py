"""What goes wrong with files of journals."""

from __future__ import annotations


class NotAJournal(ValueError):
    """A file that no journal can be read from; says why."""
