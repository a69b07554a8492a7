"""Fig. "sim1 left" (Effect of Partner-Awareness)."""
