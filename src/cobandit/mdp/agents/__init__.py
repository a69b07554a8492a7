"""The agents of Markov decision processes: one algorithm per file, and a literal registry."""
