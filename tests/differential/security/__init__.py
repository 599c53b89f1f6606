"""Two brokers with an authorizer, asked the same by several users whose rights change."""
