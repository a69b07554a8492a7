"""Reports of simulated participants: the power of a study's tests, and the paper's studies rehearsed."""
