"""Connections of one process of this machine with another go round any proxy.

gRPC takes the proxy that the environment names for every address, so engines and workers would
never hear of each other where one is set, as in many companies.
"""

import os

OWN_ADDRESSES = ("localhost", "127.0.0.1", "::1")
EXCEPTIONS = ("no_proxy", "NO_PROXY")
OF_GRPC = "no_grpc_proxy"  # where it is set, gRPC looks at nothing else


def go_round_proxies() -> None:
    """Add this machine's own addresses to those that the environment excepts, for this process and
    those that it starts from now on."""
    given = next((os.environ[name] for name in EXCEPTIONS if os.environ.get(name)), "")
    for name in EXCEPTIONS:
        os.environ[name] = _with_own(given)
    if os.environ.get(OF_GRPC):
        os.environ[OF_GRPC] = _with_own(os.environ[OF_GRPC])


def _with_own(given: str) -> str:
    names = [name.strip() for name in given.split(",") if name.strip()]
    return ",".join(dict.fromkeys([*names, *OWN_ADDRESSES]))
