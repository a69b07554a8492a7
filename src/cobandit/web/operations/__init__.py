"""Operating a server: metrics, logs as JSON, alerts. The modules know nothing about studies except in `conditions`."""
