"""Programs at a running server: they speak HTTP and know nothing of the server's inside."""
