"""Fig. "sim2 right" (Varying Other Conditions)."""
