"""Thm 1, drawn beside what is measured (not a figure of the paper)."""
