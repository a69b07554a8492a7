"""The report of an analysed human-AI study."""
