"""The routes: they translate between HTTP and the service, which decides."""
