"""A stored study as tables that any statistics program reads: CSV or Parquet, a codebook, and where it all comes from.

``long`` has the columns of a simulated trajectory and more.
"""

from cobandit.studies.export.columns import LAYOUT, Column, Table, schema
from cobandit.studies.export.folder import FORMATS, TABLES, read_export, write_export
from cobandit.studies.export.formats import EXPORT_FORMATS, ExportFormat, write_study
from cobandit.studies.export.spss import write_sav
from cobandit.studies.export.statistics import write_psych_ds
from cobandit.studies.export.tables import tables

__all__ = [
    "EXPORT_FORMATS",
    "FORMATS",
    "LAYOUT",
    "TABLES",
    "Column",
    "ExportFormat",
    "Table",
    "read_export",
    "schema",
    "tables",
    "write_export",
    "write_psych_ds",
    "write_sav",
    "write_study",
]
