"""Compiling: told to whoever waits, stopped by Ctrl-C, and no reason to fail where nothing can be kept on disk."""

import os
import random
import shutil
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from cobandit.engine.fast.cache_file import VerifiedCacheFile

WORK = """
import cobandit as cb
problem = cb.Problem.bernoulli([[.8, .4], [.2, .6]], [1.0, 0.5])
result = cb.simulate(problem, cb.Team.of("mucb-intervals"), 50, 10, 0, engine="fast", threads=1)
print(result.engine, round(float(result.task_regret[:, -1].mean()), 6))
"""
PLAIN = WORK.replace('engine="fast"', 'engine="reference"').replace("result.engine,", '"fast",')


def run(script: str, **environment: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-c", script]
    return subprocess.run(command, env=os.environ | environment, capture_output=True, text=True, check=False)


@pytest.fixture(scope="module")
def expected() -> str:
    return run(PLAIN).stdout


@pytest.fixture(scope="module")
def warm(tmp_path_factory, expected) -> Path:
    """A real cache, whose first user has waited for the compiler."""
    folder = tmp_path_factory.mktemp("warm")
    done = run(WORK, NUMBA_CACHE_DIR=str(folder))
    said = "Compiling the fast engine for mucb-intervals: a few seconds, the first time only.\n"
    assert (done.stdout, done.stderr) == (expected, said)
    return folder


def test_it_is_logged_once(warm, expected) -> None:
    done = run(WORK, NUMBA_CACHE_DIR=str(warm))
    assert (done.stdout, done.stderr) == (expected, "")


@pytest.mark.long
def test_no_place_to_keep_it(expected) -> None:
    """As in a container that can only be read."""
    nowhere = "import numba.core.caching as c\nc.CacheImpl._locator_classes = []\n"
    done = run(nowhere + WORK)
    assert (done.returncode, done.stdout) == (0, expected)
    assert "Compiled code cannot be stored on disk" in done.stderr
    assert done.stderr.count("Set NUMBA_CACHE_DIR to a folder that can be written to.") == 1
    assert done.stderr.endswith("Compiling the fast engine for mucb-intervals: a few seconds.\n")


def flipped(seed: int) -> Callable[[bytes], bytes]:
    """Flip one random bit."""

    def damage(content: bytes) -> bytes:
        return flip(content, *divmod(random.Random(seed).randrange(8 * len(content)), 8))

    return damage


def flip(content: bytes, place: int, bit: int) -> bytes:
    return content[:place] + bytes([content[place] ^ 1 << bit]) + content[place + 1 :]


def flipped_instruction(content: bytes) -> bytes:
    """Flip one bit of an early instruction, after the 64 bytes of the ELF header: unverified, this may crash."""
    return flip(content, max(content.find(b"\x7fELF"), 0) + 64 + 16, 4)


def truncated(seed: int) -> Callable[[bytes], bytes]:
    return lambda content: content[: random.Random(seed).randrange(1, len(content))]


DAMAGES = {
    "empty": lambda content: b"",
    "other": lambda content: b"no pickle",
    "instruction": flipped_instruction,
    "bit": flipped(1),
    "another bit": flipped(2),
    "truncated": truncated(3),
    "last byte": lambda content: content[:-1],
}


@pytest.fixture
def entry(tmp_path) -> Callable[[], VerifiedCacheFile]:
    """Open a cache that holds the code of two functions, as a new process would."""

    def opened() -> VerifiedCacheFile:
        return VerifiedCacheFile(cache_path=str(tmp_path), filename_base="loop.sha256", source_stamp=(1, 2))

    opened().save("one function", b"\x7fELF" + bytes(range(200)))
    opened().save("another", b"other code")
    assert opened().load("one function").startswith(b"\x7fELF")
    return opened


@pytest.mark.parametrize("damage", DAMAGES)
@pytest.mark.parametrize("ending", ["nbi", "1.nbc"])
def test_a_damaged_copy_counts_as_absent(tmp_path, entry, caplog, ending, damage) -> None:
    [path] = tmp_path.glob(f"*{ending}")
    path.write_bytes(DAMAGES[damage](path.read_bytes()))
    assert entry().load("one function") is None
    assert not entry().holds("one function")
    [record] = caplog.records
    assert record.getMessage().startswith(f"The compiled code in {path} cannot be read (")
    entry().save("one function", b"new code")
    assert entry().load("one function") == b"new code"


def test_code_of_another_function_is_not_loaded(tmp_path, entry) -> None:
    """Two processes that write at once may leave the data of one under the name of the other."""
    first, second = sorted(tmp_path.glob("*.nbc"))
    shutil.copy(second, first)
    assert entry().load("one function") is None
    assert entry().load("another") == b"other code"


@pytest.mark.long
@pytest.mark.parametrize(("ending", "damage"), [("nbi", "empty"), ("nbc", "instruction")])
def test_a_damaged_copy_is_compiled_again(tmp_path, warm, expected, ending, damage) -> None:
    cache = tmp_path / "cache"
    shutil.copytree(warm, cache)
    [path] = cache.rglob(f"*.{ending}")
    path.write_bytes(DAMAGES[damage](path.read_bytes()))
    mended = run(WORK, NUMBA_CACHE_DIR=str(cache))
    assert (mended.returncode, mended.stdout) == (0, expected)
    first, second = mended.stderr.splitlines()
    assert first.startswith(f"The compiled code in {path} cannot be read (")
    assert second.startswith("Compiling the fast engine for mucb-intervals")
    again = run(WORK, NUMBA_CACHE_DIR=str(cache))
    assert (again.stdout, again.stderr) == (expected, "")


@pytest.mark.long
def test_a_full_disk(tmp_path, expected) -> None:
    full = (
        "import errno, numba.core.caching as c\n"
        "def save(self, *_): raise OSError(errno.ENOSPC, 'No space left on device')\n"
        "c.IndexDataCacheFile.save = save\n"
    )
    done = run(full + WORK, NUMBA_CACHE_DIR=str(tmp_path))
    assert (done.returncode, done.stdout) == (0, expected)
    assert "No space left on device" in done.stderr


@pytest.mark.skipif(sys.platform == "win32", reason="signals are sent otherwise there")
def test_ctrl_c_while_compiling(tmp_path) -> None:
    command = [sys.executable, "-c", WORK]
    environment = os.environ | {"NUMBA_CACHE_DIR": str(tmp_path)}
    with subprocess.Popen(
        command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as started:
        assert started.stderr is not None
        assert started.stderr.readline().startswith("Compiling the fast engine")
        started.send_signal(signal.SIGINT)
        shown, said = started.communicate()
    assert shown == ""
    assert said.rstrip().endswith("KeyboardInterrupt")


@pytest.mark.skipif(sys.platform == "win32", reason="there are no such locks there")
def test_two_processes_do_not_compile_the_same(tmp_path, expected) -> None:
    environment = os.environ | {"NUMBA_CACHE_DIR": str(tmp_path), "NUMBA_DEBUG_CACHE": "1"}
    command = [sys.executable, "-c", WORK]
    started = [subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, text=True) for _ in range(2)]
    shown = [process.communicate()[0] for process in started]
    assert [said.splitlines()[-1] + "\n" for said in shown] == [expected, expected]
    assert sum(said.count(".nbc") for said in shown) == 1
    assert not list(tmp_path.rglob("*.lock"))
