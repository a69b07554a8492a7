"""The compiled form of each agent of Markov problems."""
