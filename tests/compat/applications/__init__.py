"""Applications of other projects: those that are quick, and what runs them."""
