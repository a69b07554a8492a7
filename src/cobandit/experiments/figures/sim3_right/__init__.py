"""Fig. "sim3 right" (Varying Other Conditions)."""
