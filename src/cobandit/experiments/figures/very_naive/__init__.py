"""Fig. "very_naive" (Additional Simulations)."""
