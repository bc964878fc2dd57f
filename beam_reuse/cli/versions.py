"""What `beam-reuse --version` says: our version, what we run on, and the engines that are here."""

import platform
from importlib.metadata import version

from beam_reuse import __version__
from beam_reuse.cli.help_texts import PROGRAM
from beam_reuse.runners.fetching import damage_of, kits_folder
from beam_reuse.runners.kits import KITS


def versions() -> str:
    """Three lines, of which the first is for programs."""
    folder = kits_folder()
    found = [f"{kit.name.removesuffix(f'-{kit.version}')} {kit.version}" for kit in KITS.values()
             if not damage_of(kit.folder_in(folder))]
    engines = f"{', '.join(['local', *found])} ({folder})" if found else (
        f"local (others are fetched with: {PROGRAM} engines)")
    return (f"{PROGRAM} {__version__}\n"
            f"Python {platform.python_version()}, apache-beam {version('apache-beam')}\n"
            f"engines: {engines}")
