"""The example for Slurm: its job script is executed by a stand-in for sbatch, since there is no Slurm here."""

from __future__ import annotations

import importlib.util
import os
import sys
from pathlib import Path
from types import ModuleType

import pytest

pytest.importorskip("dask_jobqueue")

PATIENCE = 600
"""Seconds; only a test that fails waits as long."""

EXAMPLE = Path(__file__).parents[2] / "docs/examples/slurm_sweep.py"
SBATCH = """#!/bin/sh
# Runs the job script in the background, as Slurm would on a node, and prints the number of the job.
cp "$1" "{folder}/job.sh"
setsid /bin/bash "{folder}/job.sh" >"{folder}/job.log" 2>&1 </dev/null &
echo $! >"{folder}/job.pid"
echo "Submitted batch job 4711"
"""
SCANCEL = """#!/bin/sh
kill -TERM -- "-$(cat {folder}/job.pid)"
"""


@pytest.fixture
def example() -> ModuleType:
    specification = importlib.util.spec_from_file_location("slurm_sweep", EXAMPLE)
    assert specification is not None
    assert specification.loader is not None
    module = importlib.util.module_from_spec(specification)
    specification.loader.exec_module(module)
    return module


def test_the_job_script_asks_for_what_the_example_says(example):
    with example.make_cluster(interface="lo", scheduler_options={"dashboard_address": None}) as cluster:
        lines = cluster.job_script().splitlines()
    for line in ("-p short", "-A lab", "--cpus-per-task=4", "--mem=8G", "-t 02:00:00"):
        assert f"#SBATCH {line}" in lines
    assert "export NUMBA_NUM_THREADS=1" in lines
    worker = lines[-1] or lines[-2]
    assert worker.startswith(f"{sys.executable} -m distributed.cli.dask_worker tcp://")
    assert "--nthreads 1" in worker
    assert "--nworkers 4" in worker


@pytest.mark.slow
def test_a_panel_is_played_by_the_jobs(example, tmp_path, monkeypatch):
    for name, text in (("sbatch", SBATCH), ("scancel", SCANCEL)):
        (tmp_path / name).write_text(text.format(folder=tmp_path))
        (tmp_path / name).chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}{os.pathsep}{os.environ['PATH']}")
    # On a busy machine, starting Python alone may take longer than Dask waits by default.
    monkeypatch.setenv("DASK_DISTRIBUTED__COMM__TIMEOUTS__CONNECT", f"{PATIENCE}s")
    out = tmp_path / "out"
    code = example.main(
        "sim0-left",
        str(out),
        1,
        *("--runs", "20", "--horizon", "200"),
        cores=1,
        processes=1,
        interface="lo",
        scheduler_options={"dashboard_address": None},
        death_timeout=PATIENCE,
    )
    assert code == 0, (tmp_path / "job.log").read_text()
    assert "#SBATCH" in (tmp_path / "job.sh").read_text()
    assert list(out.rglob("*.parquet"))
