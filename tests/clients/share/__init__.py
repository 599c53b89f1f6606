"""Stock clients' share consumers (KIP-932)."""
