"""What every test may use: the corpora beside the checkout, and Hypothesis' settings."""

import fcntl
import os
import shutil
import signal
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

# The first call of a kernel compiles it, and machines that run tests are busy: how long an example
# takes says nothing.
settings.register_profile(
    "beam_reuse", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("beam_reuse")


@pytest.fixture(scope="session")
def corpora() -> Path:
    """Folder of the test corpora; tests that need it are skipped where it is absent."""
    beside = Path(__file__).resolve().parents[2] / "shared" / "corpora"
    folder = Path(os.environ.get("BEAM_REUSE_CORPORA", beside))
    if not folder.is_dir():
        pytest.skip("no corpora: put them at ../shared/corpora or set BEAM_REUSE_CORPORA")
    return folder


@pytest.fixture(scope="session")
def demo_made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of `beam-reuse demo`, made once for all processes of a test run: to read it, or to
    copy it with `demo_copy`."""
    base = tmp_path_factory.getbasetemp()
    folder = (base.parent if "PYTEST_XDIST_WORKER" in os.environ else base) / "demo-made"
    folder.mkdir(exist_ok=True)
    with (folder / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not (folder / "demo" / "result" / "manifest.json").exists():
            from beam_reuse.cli.main import main

            shutil.rmtree(folder / "demo", ignore_errors=True)
            assert main(["demo", "-o", str(folder / "demo"), "--workers", "1"]) == 0
    return folder / "demo"


def demo_copy(made: Path, folder: Path) -> Path:
    """A copy of the demo's result in `folder`, for tests that write beside it. Its crawl is where
    `run.json` says: in the folder of the original."""
    shutil.copytree(made / "result", folder / "result")
    return folder / "result"


@pytest.fixture
def ctrl_c_heard() -> Iterator[None]:
    """Processes that the test starts hear Ctrl-C, also where whoever started the tests ignores it
    (`nohup`, a shell's `&`, many CI systems): children inherit that."""
    before = signal.getsignal(signal.SIGINT)
    if before is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)
