"""The small whole numbers by which the compiled kernels know kinds, models and options."""

from __future__ import annotations

# What a player does; the last three are the simulated people of studies, which `people` alone knows.
BLOCK_UCB, BLOCK_TS, OWN_UCB, GRADIENT, ORACLE, INTERVALS, PHASES = range(7)
SOFTMAX, STAY_OR_SHIFT, GREEDY = range(7, 10)

# Columns of a player's whole-number options.
KIND, FORESEES, WINDOW, REPEAT, INDEX, RANDOM_TIES, SEARCH, SWEEPS, INTS = range(9)

# Columns of a player's real options.
PRIOR_MEAN, PRIOR_WEIGHT, NOISE_WEIGHT, REMAINING, SCALE, FLOATS = range(6)

# Columns that the options of people share with those of others.
MEMORY, TEMPERATURE, SLIP = WINDOW, PRIOR_WEIGHT, SCALE

# Index variants.
PAPER, ANYTIME, COMPANION = range(3)

# How a player of the UCB family finds its best cell: recomputing every index, scanning kept indices, or a tournament.
FRESH, SCAN, TOURNAMENT = range(3)

# Reward and observation models, role rules.
BERNOULLI, GAUSSIAN = range(2)
MISSED, MISSED_KNOWN, FLIPPED, NOISY = range(4)
ROLES_GIVEN, ROLES_RANDOM = range(2)
