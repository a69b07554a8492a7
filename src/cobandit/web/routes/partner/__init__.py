"""The HTTP API of the partner service, below /v1."""
