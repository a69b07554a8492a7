"""The burger study's robot on the web: recorded burgers for all, or one arm in a lab (decision 0014)."""
