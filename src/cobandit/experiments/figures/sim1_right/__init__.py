"""Fig. "sim1 right" (Effect of Partner-Awareness)."""
