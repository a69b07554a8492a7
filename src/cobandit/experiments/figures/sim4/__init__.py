"""Fig. "sim4" (Generalization to More Agents)."""
