"""What every room stands on: errors, checks, records, files, extras, facts of the machine, Parquet, random streams."""
