"""Thm 1 where it fails: a standoff holds the team in a row that is not the best (not a figure of the paper)."""
