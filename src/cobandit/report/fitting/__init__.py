"""The report of models that were fitted to the choices of people."""
