"""The base of all packages: errors, checks, records, files, extras, machine facts, Parquet, random streams."""
