"""Messages and records taken apart for people: tables of schemas, frames field by field."""
