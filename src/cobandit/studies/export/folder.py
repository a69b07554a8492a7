"""A folder with every table of a study, the codebook, and ``study.json``, which says where it all comes from.

``study.json`` is written first as unfinished and last as finished, with the SHA-256 of every file, so an export that
was cut off or changed later is not taken for a whole one.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Iterator, Mapping
from contextlib import ExitStack
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import numpy as np

from cobandit.base.checks import one_of, short_repr
from cobandit.base.errors import InvalidInput
from cobandit.base.extras import require_extras
from cobandit.base.files import whole_file
from cobandit.base.json_types import JsonObject
from cobandit.studies.data import StudyData, StudyParts, this_software
from cobandit.studies.design import StudyDesign
from cobandit.studies.export.columns import CODEBOOK_COLUMNS, LAYOUT, Table, codebook, schema
from cobandit.studies.export.files import CsvFile, ParquetFile, read_csv, read_parquet, write_csv
from cobandit.studies.export.tables import tables

FORMATS = ("csv", "parquet")
TABLES = ("long", "wide", "survey", "events", "questionnaires")
"""The tables of an export; only designs with questionnaires have the last one."""

_ABOUT = "study.json"
_CODEBOOK = "codebook.csv"


def write_export(
    data: StudyData | StudyParts,
    folder: str | os.PathLike[str],
    format: str = "csv",
    *,
    practice: bool = True,
    recruiting: bool = False,
    texts: bool = False,
) -> list[Path]:
    """Write every table, the codebook and ``study.json`` into a folder; the paths written.

    Each file appears whole or not at all. A folder that holds something else is left alone; an earlier export of the
    same study is replaced.
    """
    one_of(FORMATS, "format of an export")("format", format)
    require_extras("Exporting Parquet files", parquet=format == "parquet")
    study = data if isinstance(data, StudyParts) else StudyParts.of(data)
    root = _our_folder(folder, study.about.design)
    about = _about(study, format, practice, recruiting, texts)
    try:
        root.mkdir(parents=True, exist_ok=True)
        _write_about(root, about | {"complete": False})
        about["files"] |= _write_tables(root, study, about)
        _write_about(root, about)
        for name in TABLES:
            for other in FORMATS:
                if other != format:
                    (root / f"{name}.{other}").unlink(missing_ok=True)
    except OSError as error:
        raise InvalidInput(f"The export cannot be written to {str(root)!r}: {error.strerror or error}.") from error
    return [root / name for name in (*about["files"], _ABOUT)]


def _write_tables(root: Path, study: StudyParts, about: JsonObject) -> dict[str, JsonObject]:
    """Write every table part by part, and the codebook; return the number of rows and the SHA-256 of each file."""
    format, recruiting = about["format"], about["recruiting"]
    columns = schema(study.about.design, recruiting=recruiting, texts=about["texts"])
    names = [name for name in TABLES if name in columns]
    files: dict[str, CsvFile | ParquetFile] = {}
    with ExitStack() as stack:
        for name in names:
            file = stack.enter_context(whole_file(root / f"{name}.{format}", private=True))
            files[name] = (
                CsvFile(file, columns[name])
                if format == "csv"
                else ParquetFile(file, columns[name], about | {"table": name})
            )
        for exported in table_parts(study, practice=about["practice"], recruiting=recruiting, texts=about["texts"]):
            for name in names:
                files[name].add(exported[name])
        for name in names:
            files[name].close()
    explained = codebook(columns)
    write_csv(root / _CODEBOOK, CODEBOOK_COLUMNS, explained)
    rows = {f"{name}.{format}": files[name].rows for name in names}
    rows[_CODEBOOK] = len(next(iter(explained.values())))
    return {name: {"rows": count, "sha256": _sha256(root / name)} for name, count in rows.items()}


def table_parts(
    study: StudyParts, *, practice: bool = True, recruiting: bool = False, texts: bool = False
) -> Iterator[dict[str, Table]]:
    """Yield the tables of each part of a study; runs are numbered through all parts."""
    runs = 0
    for part in study.parts:
        exported = tables(part, practice=practice, recruiting=recruiting, texts=texts, first_run=runs)
        runs += len(np.unique(exported["long"]["run"]))
        yield exported


def _our_folder(folder: str | os.PathLike[str], design: StudyDesign) -> Path:
    """Return the folder if it may be written to: it must be new, empty, or an export of the same study."""
    if not isinstance(folder, (str, os.PathLike)) or "\0" in os.fspath(folder):
        raise InvalidInput(f"The folder must be a path, got {short_repr(folder)}.")
    root = Path(folder)
    if not root.exists():
        return root
    if not root.is_dir():
        raise InvalidInput(f"{str(root)!r} is a file; a folder is needed.")
    if not any(root.iterdir()):
        return root
    try:
        about = json.loads((root / _ABOUT).read_text(encoding="utf-8"))
        digest = about["digest"] if "layout" in about else None
    except (OSError, ValueError, TypeError, KeyError):
        digest = None
    if digest is None:
        raise InvalidInput(f"The folder {str(root)!r} holds something else already; a new or an empty one is needed.")
    if digest != design.digest:
        raise InvalidInput(
            f"The folder {str(root)!r} holds the export of another study or of another version of it; "
            f"choose another folder."
        )
    return root


def _about(study: StudyParts, format: str, practice: bool, recruiting: bool, texts: bool) -> JsonObject:
    data = study.about
    try:
        json.dumps(dict(data.about), allow_nan=False)
    except (TypeError, ValueError) as error:
        raise InvalidInput(
            f"about is {short_repr(data.about)}; only what JSON knows can be exported: {error}."
        ) from error
    return {
        "layout": LAYOUT,
        "complete": True,
        "study": data.design.name,
        "version": data.design.version,
        "digest": data.design.digest,
        "format": format,
        "exported_at": datetime.now(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z"),
        "exported_by": this_software(),
        "versions": dict(data.versions),
        "kinds": list(study.kinds),
        "participants": study.count,
        "practice": practice,
        "recruiting": recruiting,
        "texts": texts,
        "analysis_plan": data.plan,
        "analysis_plan_sha256": data.plan_digest,
        "about": dict(data.about),
        "files": {},
        "design": data.design.to_dict(),
    }


def _write_about(root: Path, about: Mapping[str, Any]) -> None:
    with whole_file(root / _ABOUT, private=True) as file:
        file.write((json.dumps(about, indent=2) + "\n").encode("ascii"))


def _sha256(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def read_export(
    folder: str | os.PathLike[str], *, changed: bool = False
) -> tuple[StudyDesign, dict[str, Table], dict[str, Any]]:
    """Read an export of either format: the design, the tables in today's layout, and the content of ``study.json``.

    Free texts that an export of an earlier layout has in ``wide`` stay there.

    A changed file is refused, unless ``changed`` allows it (for instance after correcting a typing error in a CSV
    file); ``changed_files`` in the facts about the export then names it.
    """
    if not isinstance(folder, (str, os.PathLike)) or "\0" in os.fspath(folder):
        raise InvalidInput(f"The folder must be a path, got {short_repr(folder)}.")
    root = Path(folder)
    about = _read_about(root)
    try:
        design = StudyDesign.from_dict(about["design"], f"the design in {str(root / _ABOUT)!r}")
        format = one_of(FORMATS, "format of an export")("format", about["format"])
        require_extras("Reading Parquet files", parquet=format == "parquet")
        files: JsonObject = about["files"]
        recruiting, texts = bool(about["recruiting"]), bool(about.get("texts"))
        if design.digest != about["digest"]:
            raise InvalidInput(f"{str(root / _ABOUT)!r} holds a design that does not match its digest.")
        tables_of = schema(design, recruiting=recruiting, texts=texts, layout=about["layout"])
        columns = tables_of | {"codebook": CODEBOOK_COLUMNS}
        names = {name: f"{name}.{format}" for name in TABLES if name in tables_of} | {"codebook": _CODEBOOK}
        written = {name: str(files[file]["sha256"]) for name, file in names.items()}
    except (KeyError, TypeError) as error:
        raise InvalidInput(f"{str(root / _ABOUT)!r} is damaged: {error} is missing or wrong.") from error
    contents = {}
    others = []
    for name, file in names.items():
        path = root / file
        try:
            if _sha256(path) != written[name]:
                if not changed:
                    raise InvalidInput(
                        f"{str(path)!r} is not the file that was exported: it was changed or damaged later. Export "
                        "again."
                    )
                others.append(file)
            contents[name] = (read_csv if path.suffix == ".csv" else read_parquet)(path, columns[name])
        except FileNotFoundError as error:
            raise InvalidInput(f"{str(root)!r} has no {file}; the export is not whole. Export again.") from error
        except OSError as error:
            raise InvalidInput(f"{str(path)!r} cannot be read: {error.strerror or error}.") from error
    if about["layout"] == 1:
        contents["long"] = _summed_regrets(contents["long"])
    if about["layout"] <= 2:
        today = schema(design, recruiting=recruiting, layout=3)
        called = [column.name for column in today["wide"]]
        contents["wide"] = dict(zip(called, contents["wide"].values(), strict=True))
        contents["codebook"] = codebook(today)
    return design, contents, about | {"changed_files": others}


def _summed_regrets(long: Table) -> Table:
    """Return the rounds of layout 1, whose regrets were per round, as a table of the current layout."""
    starts = np.flatnonzero(np.diff(long["run"], prepend=-1))
    table: Table = {}
    for name, values in long.items():
        if name == "task_regret":
            table["round_regret"] = values
        if name in ("task_regret", "team_regret"):
            values = np.concatenate([np.zeros(0), *map(np.cumsum, np.split(values, starts[1:]))])
        table[name] = values
    return table


def _read_about(root: Path) -> JsonObject:
    path = root / _ABOUT
    try:
        about = json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError as error:
        raise InvalidInput(f"{str(root)!r} has no {_ABOUT}; the folder of an export is needed.") from error
    except OSError as error:
        raise InvalidInput(f"{str(path)!r} cannot be read: {error.strerror or error}.") from error
    except (ValueError, RecursionError) as error:
        raise InvalidInput(f"{str(path)!r} is damaged: it is not JSON.") from error
    if not isinstance(about, dict) or "layout" not in about:
        raise InvalidInput(f"{str(path)!r} does not belong to an export of a study.")
    if about["layout"] not in range(1, LAYOUT + 1):
        raise InvalidInput(
            f"{str(path)!r} has layout {short_repr(about['layout'])}; this version of cobandit reads layouts 1 to "
            f"{LAYOUT}."
        )
    if about.get("complete") is not True:
        raise InvalidInput(f"The export in {str(root)!r} was cut off before it was whole. Export again.")
    return about
