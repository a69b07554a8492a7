"""Fig. "sim0 right" (Validation of Theoretical Results)."""
