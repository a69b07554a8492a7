"""Fig. "other_envs left" (Generalization to Other Bandits)."""
