"""Who may do what, and how much: SCRAM credentials and client quotas."""
