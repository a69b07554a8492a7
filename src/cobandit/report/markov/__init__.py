"""Pages and pictures of teams in Markov decision processes."""
