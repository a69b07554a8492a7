"""Reports of simulations: teams compared on one problem, and the panels of an experiment."""
