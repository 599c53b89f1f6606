"""Messages and records shown to people: tables of schemas, and frames field by field."""
