"""SCRAM credentials and client quotas."""
