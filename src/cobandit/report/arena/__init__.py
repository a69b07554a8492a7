"""The page of an arena."""
