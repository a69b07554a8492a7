"""Fig. "sim0 left" (Validation of Theoretical Results)."""
