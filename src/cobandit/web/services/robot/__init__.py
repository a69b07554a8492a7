"""The burger study's robot on the web: recorded burgers for everybody, or one arm in a lab (decision 0014)."""
