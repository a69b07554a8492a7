"""Fig. "apx1" (Partner-Aware UCB with Knowledge Gradient)."""
