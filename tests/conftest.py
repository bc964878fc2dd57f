"""What every test may use: the corpora beside the checkout, and Hypothesis' settings."""

import os
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


@pytest.fixture
def ctrl_c_heard() -> Iterator[None]:
    """Processes that the test starts hear Ctrl-C, also where whoever started the tests ignores it
    (`nohup`, a shell's `&`, many CI systems): children inherit that."""
    before = signal.getsignal(signal.SIGINT)
    if before is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)
