"""What cluster runs need, and where the ordinary clients find it."""

import shutil
import stat
import sys
import tarfile
import tempfile
import zipfile
from collections.abc import Mapping
from functools import partial
from importlib import metadata, resources
from importlib.util import find_spec
from pathlib import Path

from beam_reuse.core.errors import UserError
from beam_reuse.runners.fetching import FetchError, Kit, call

PARTS_VERSION = "2.62.0"
# Beam has a job server for each of these versions of Flink, and for the first two there are parts
# of one. A whole Flink to try comes from PyPI. FLINK is the one inside the job server, too.
FLINK = "1.19"
FLINKS = {FLINK: "1.19.3", "1.20": "1.20.5", "2.0": "", "2.1": "", "2.2": ""}
SPARK, SPARK_RELEASE = "3.5", "3.5.0"
JARS = "lib"
PRISM, PRISM_SOURCE = "prism", "github.com/apache/beam/sdks/v2/go/cmd/prism"
_MAVEN = ("Install Maven, which needs Java (Debian: apt install maven), or name a job server of "
          "your own with --{}_job_server_jar FILE.")


def flink_kit(version: str) -> str:
    """The name of the kit with the job server for a version of Flink."""
    return "flink" if version == FLINK else f"flink-{version}"


def _fill_job_server(engine: str, ready: str, pom: str, folder: Path) -> str:
    """Jars of a job server: the ready one of the installed Beam where Maven has it, else the
    parts that `pom` names, if it is not ''."""
    beam, way_out = _BEAM, _MAVEN.format(engine)
    quietly = ("-q", "-B")
    jars = folder / JARS
    try:
        call("mvn", way_out, *quietly, "dependency:copy",
             f"-Dartifact=org.apache.beam:{ready}:{beam}", f"-DoutputDirectory={jars}")
        return f"the job server {ready} of Beam {beam}"
    except FetchError as error:
        if not pom:
            raise FetchError(
                f"Maven has no {ready} of Beam {beam} ({error}), and of no older Beam are there "
                f"parts of one. Name one of your own with --{engine}_job_server_jar FILE, or use "
                f"a cluster of Flink {' or '.join(_ASSEMBLED)}.") from None
        shutil.rmtree(jars, ignore_errors=True)
    project = folder / "pom.xml"
    project.write_text(resources.files("beam_reuse.runners").joinpath(pom).read_text())
    call("mvn", way_out, *quietly, "-f", str(project), "dependency:copy-dependencies",
         "-DincludeScope=runtime", f"-DoutputDirectory={jars}")
    return (f"a job server assembled from parts of Beam {PARTS_VERSION} (no ready one of Beam "
            f"{beam} was found)")


def _fill_flink(release: str, folder: Path) -> str:
    """Programs, settings and libraries of a Flink cluster, from its two Python packages."""
    with tempfile.TemporaryDirectory() as downloads:
        _download(f"apache-flink-libraries=={release}", downloads)
        _download(f"apache-flink=={release}", downloads,
                  "--only-binary=:all:", "--python-version=3.11")
        (libraries,), (programs,) = (list(Path(downloads).glob(p)) for p in ("*.tar.gz", "*.whl"))
        _unpack(libraries, folder, "deps", ("bin", "lib"))
        with zipfile.ZipFile(programs) as archive:
            for name in archive.namelist():
                if name.startswith(("pyflink/bin/", "pyflink/conf/")) and not name.endswith("/"):
                    target = folder / name.removeprefix("pyflink/")
                    target.parent.mkdir(parents=True, exist_ok=True)
                    target.write_bytes(archive.read(name))
    _make_executable(folder / "bin")
    (folder / "log").mkdir()
    return f"Flink {release} from the packages apache-flink and apache-flink-libraries"


def _fill_spark(folder: Path) -> str:
    """Programs and libraries of a Spark cluster, from its Python package."""
    with tempfile.TemporaryDirectory() as downloads:
        _download(f"pyspark=={SPARK_RELEASE}", downloads, "--no-binary=:all:")
        (package,) = Path(downloads).glob("*.tar.gz")
        _unpack(package, folder, "deps", ("bin", "jars"))
    _make_executable(folder / "bin")
    return f"Spark {SPARK_RELEASE} from the package pyspark"


def _build_prism(version: str, folder: Path) -> str:
    """The program Prism of this version of Beam, built from its source without a C compiler."""
    call("go", f"Install Go (Debian: apt install golang), or name a {PRISM} that was built "
         "elsewhere with --prism_location FILE.", "install", f"{PRISM_SOURCE}@v{version}",
         GOBIN=str(folder), CGO_ENABLED="0")
    return f"Prism of Beam {version}, built with Go"


def _download(package: str, folder: str, *options: str) -> None:
    if find_spec("pip") is None:
        raise UserError(f"{package} is fetched with pip, which {sys.executable} does not have. "
                        f"Install it: {sys.executable} -m ensurepip")
    call(sys.executable, "Python is needed.", "-m", "pip", "download", "-q", "--no-deps",
         *options, "--dest", folder, package)


def _unpack(package: Path, folder: Path, inside: str, wanted: tuple[str, ...]) -> None:
    """Some folders of a source package, all of which lie in its folder `inside`."""
    with tarfile.open(package) as archive:
        for member in archive:
            below = member.name.split("/", 1)[-1].removeprefix(f"{inside}/")
            if member.isfile() and below.startswith(tuple(f"{name}/" for name in wanted)):
                member.name = below
                archive.extract(member, folder, filter="data")


def _make_executable(folder: Path) -> None:
    for path in folder.iterdir():
        path.chmod(path.stat().st_mode | stat.S_IXUSR)


def _flink_job_server(version: str) -> Kit:
    assembled = f"flink-{version}.xml" if version in _ASSEMBLED else ""
    return Kit(
        flink_kit(version), version, f"job server for --runner flink (Flink {version})",
        partial(_fill_job_server, "flink", f"beam-runners-flink-{version}-job-server", assembled),
        own="--flink_job_server_jar")


def _flink_cluster(version: str) -> Kit:
    return Kit(f"{flink_kit(version)}-cluster", FLINKS[version],
               "a Flink cluster to try on one machine", partial(_fill_flink, FLINKS[version]))


_BEAM = metadata.version("apache-beam")
_ASSEMBLED = [version for version, release in FLINKS.items() if release]
_KITS = (
    *map(_flink_job_server, FLINKS),
    Kit("spark", SPARK, f"job server for --runner spark (Spark {SPARK})",
        partial(_fill_job_server, "spark", "beam-runners-spark-3-job-server",
                f"spark-{SPARK}.xml"), own="--spark_job_server_jar"),
    Kit(PRISM, _BEAM, f"Prism for --runner prism (Beam {_BEAM})", partial(_build_prism, _BEAM),
        own="--prism_location", needs_java=False),
    *map(_flink_cluster, _ASSEMBLED),
    Kit("spark-cluster", SPARK_RELEASE, "a Spark cluster to try on one machine", _fill_spark),
)
KITS: Mapping[str, Kit] = {kit.name: kit for kit in _KITS}
FIRST = ("flink", "spark")
