"""Fig. "sim3 left" (Varying Other Conditions)."""
