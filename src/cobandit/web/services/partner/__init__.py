"""The partner service: API keys, teams, and games with durable logs."""
