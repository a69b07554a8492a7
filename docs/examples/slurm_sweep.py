"""Play a panel of the paper on a Slurm cluster: ``python slurm_sweep.py PANEL OUT JOBS [OPTION ...]``.

Run it where jobs can be submitted, such as a login node. Workers are jobs of Slurm; a job that is killed costs only its
unfinished chunks, and the same command with the same folder continues.
"""

import subprocess
import sys

from dask_jobqueue import SLURMCluster


def make_cluster(**changes):
    """Return a cluster without jobs; one job is one node's share: four workers of one thread each."""
    settings = {
        "queue": "short",
        "account": "lab",
        "cores": 4,
        "processes": 4,
        "memory": "8GB",
        "walltime": "02:00:00",
        "job_script_prologue": ["export NUMBA_NUM_THREADS=1", "export OPENBLAS_NUM_THREADS=1"],
    }
    return SLURMCluster(**settings | changes)


def main(panel, out, jobs, *options, **changes):
    """Start the jobs, play the panel on them and return the exit code."""
    with make_cluster(**changes) as cluster:
        cluster.scale(jobs=jobs)
        command = [sys.executable, "-m", "cobandit", "reproduce", panel, "--out", out, "--resume", *options]
        return subprocess.run([*command, "--engine", "dask", "--dask-address", cluster.scheduler_address]).returncode


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], sys.argv[2], int(sys.argv[3]), *sys.argv[4:]))
