"""Ctrl-C and a polite kill, at whatever moment of whichever library they come."""

import logging
import signal
import sys
import threading
from typing import Any, NoReturn

_SECONDS_TO_ASK_AGAIN = 0.1
_asked = threading.Event()
written: list[str] = []
"""Places of results that are whole, whatever happens to this process from now on."""


def was_asked() -> bool:
    """Whether somebody asked this process to stop: then whatever fails, fails of that."""
    return _asked.is_set()


def words() -> str:
    """What to say of a command that was stopped."""
    if written:
        return f"stopped; the result in {written[-1]} is whole."
    return "stopped; no result was written."


def listen(debug: bool) -> None:
    """Raise KeyboardInterrupt for Ctrl-C (unless a shell has switched it off) and for a polite
    kill. From then on libraries that are interrupted log nothing, but with `debug`."""
    def stop(*_: object) -> NoReturn:
        _asked.set()
        if not debug:
            logging.disable(logging.CRITICAL)
        raise KeyboardInterrupt

    def heard_in_vain(what: Any) -> None:
        """Python drops what is raised while it frees an object: ask again in a moment."""
        if issubclass(what.exc_type, KeyboardInterrupt):
            signal.setitimer(signal.ITIMER_REAL, _SECONDS_TO_ASK_AGAIN)
        elif debug:
            sys.__unraisablehook__(what)

    if signal.getsignal(signal.SIGINT) is not signal.SIG_IGN:
        signal.signal(signal.SIGINT, stop)
    signal.signal(signal.SIGTERM, stop)
    signal.signal(signal.SIGALRM, stop)
    sys.unraisablehook = heard_in_vain
