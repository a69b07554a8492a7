"""Fig. "other_envs right" (Generalization to Other Bandits)."""
