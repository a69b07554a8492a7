"""Fig. "sim2 left" (Varying Other Conditions)."""
