"""Which job server a Flink cluster understands: one whose Flink has the same minor version."""

import glob
import re
import zipfile
from pathlib import Path

from beam_reuse.core.errors import UserError
from beam_reuse.runners.job_server import class_path
from beam_reuse.runners.kits import FLINK, FLINKS, flink_kit

_TELLS = ".flink-runtime.version.properties"
_KEY = "project.version="


def job_server_for(master: str, version: str, jar: str | None, kits: str) -> str:
    """The class path of a job server for the cluster at `master`, which runs this version of Flink:
    the jar the user named, else the kit of its version. UserError if there is none, or if it is for
    another version."""
    if jar is None:
        if minor(version) not in FLINKS:
            raise UserError(
                f"--flink_master {master} runs Flink {version}, and `beam-reuse engines` has job "
                f"servers for {', '.join(FLINKS)}. Use a cluster of one of these, or name a job "
                "server for yours with --flink_job_server_jar FILE.")
        return class_path(flink_kit(minor(version)), jar, kits)
    found = class_path("flink", jar, kits)
    theirs = version_in(found)
    if theirs and minor(theirs) != minor(version):
        raise UserError(
            f"--flink_job_server_jar {jar} is for Flink {theirs}, and the cluster at {master} runs "
            f"{version}. Name a job server for {minor(version)}, or leave the option out.")
    return found


def embedded_job_server(jar: str | None, kits: str) -> str:
    """The class path of a job server with a Flink inside."""
    return class_path(flink_kit(FLINK), jar, kits)


def minor(version: str) -> str:
    """The first two numbers of a version."""
    return ".".join(re.findall(r"\d+", version)[:2])


def version_in(class_path: str) -> str:
    """The version of the Flink that jars have inside; '' if they do not say."""
    for jar in sorted(glob.glob(class_path)):
        if Path(jar).suffix == ".jar" and zipfile.is_zipfile(jar):
            with zipfile.ZipFile(jar) as archive:
                if _TELLS in archive.namelist():
                    lines = archive.read(_TELLS).decode(errors="replace").splitlines()
                    return next((line.removeprefix(_KEY).strip() for line in lines
                                 if line.startswith(_KEY)), "")
    return ""
