"""Who may do what: a table of every API and the operations it needs, and what asks it."""
