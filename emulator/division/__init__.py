"""A request of which a part is refused: where it says what it asks for, the answers that refuse it
or its entries, and one function that divides it (division.py). Rules, authorization and readiness
stand on it."""
