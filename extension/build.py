"""Build the browser extension: `python extension/build.py OUT`.

OUT gets a folder per browser, to be loaded as it is, and a zip of it. Modules are copied; content
scripts, which browsers take only as plain scripts, are their modules in one file; the rules of the
public suffix list come from the package that beam_reuse itself uses, the passages that any site may
have from its own list. The same sources and lists give the same bytes.
"""

import json
import re
import shutil
import sys
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent
GENERIC = HERE.parent / "beam_reuse" / "detector" / "generic_passages.txt"
BROWSERS = ("chromium", "firefox")
COPIED = ("core/*.js", "worker/*.js", "pages/*", "icons/*")
CONTENT = "content/main.js"
# The background of a browser: Firefox has event pages, Chromium service workers.
OTHERS = {"chromium": "scripts", "firefox": "service_worker"}
DATE = (1980, 1, 1, 0, 0, 0)
_IMPORT = re.compile(r'^import \{ ([^}]+) \} from "(\.[^"]+)";$', re.MULTILINE)
_EXPORT = re.compile(r"^export (?=(?:async )?(?:function\*?|class|const|let) (\w+))", re.MULTILINE)
_SUFFIXES_NOTE = """\
// Rules of the public suffix list, publicsuffix.org, of {version}.
// This file is subject to the terms of the Mozilla Public License, v. 2.0, to be had at
// https://mozilla.org/MPL/2.0/; its source is the list itself.
"""
_GENERIC_NOTE = "// SHA-1 of passages that any site may have: generic_passages.txt of beam_reuse.\n"


def build(out: Path) -> list[Path]:
    """The folders and zips of all browsers in `out`; those of an earlier build are replaced."""
    built = []
    for browser in BROWSERS:
        folder = out / browser
        shutil.rmtree(folder, ignore_errors=True)
        for name, content in sorted(_files(browser).items()):
            path = folder / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(content)
        packed = out / f"beam-reuse-{browser}.zip"
        pack(folder, packed)
        built += [folder, packed]
    return built


def pack(folder: Path, path: Path) -> None:
    """The files of a folder as a zip, whose bytes depend on theirs alone."""
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as packed:
        for file in sorted(file for file in folder.rglob("*") if file.is_file()):
            entry = zipfile.ZipInfo(file.relative_to(folder).as_posix(), DATE)
            entry.compress_type = zipfile.ZIP_DEFLATED
            entry.create_system = 3
            entry.external_attr = 0o644 << 16
            packed.writestr(entry, file.read_bytes())


def manifest(browser: str) -> dict[str, Any]:
    """The manifest of a browser: the common one without what is of the other."""
    content: dict[str, Any] = json.loads((HERE / "manifest.json").read_text())
    del content["background"][OTHERS[browser]]
    if browser != "firefox":
        del content["browser_specific_settings"]
    else:
        del content["minimum_chrome_version"]
    return content


def bundled(path: Path) -> str:
    """A module and all that it imports as one plain script. Each is a function that returns what
    it exports, the imported ones first."""
    parts: dict[Path, str] = {}
    _add(path.resolve(), parts, ())
    return '"use strict";\n(() => {\n' + "".join(parts.values()) + "})();\n"


def as_globals(path: Path) -> str:
    """A module without imports as a plain script, whose exports are globals: for tests."""
    return _EXPORT.sub("", path.read_text())


def _add(path: Path, parts: dict[Path, str], open_: tuple[Path, ...]) -> None:
    if path in open_:
        raise SystemExit(f"{path.relative_to(HERE)} imports itself by way of others.")
    source = path.read_text()
    for _, other in _IMPORT.findall(source):
        target = (path.parent / other).resolve()
        if target not in parts:
            _add(target, parts, (*open_, path))
    names = _EXPORT.findall(source)
    body = _IMPORT.sub(lambda found: (
        f"const {{ {found[1]} }} = {_name((path.parent / found[2]).resolve())};"), source)
    if left := re.search(r"^(import|export) (?!(async )?(function|class|const|let))", body, re.M):
        raise SystemExit(f"{path.relative_to(HERE)}: {left[0]!r} is no import or export that the "
                         'build knows: `import { a } from "./b.js";`, `export function a`.')
    body = _EXPORT.sub("", body)
    parts[path] = (f"const {_name(path)} = (() => {{\n{body}"
                   f"return {{ {', '.join(names)} }};\n}})();\n")


def _name(path: Path) -> str:
    return "_" + re.sub(r"\W", "_", path.relative_to(HERE.resolve()).with_suffix("").as_posix())


def _files(browser: str) -> dict[str, bytes]:
    files = {path.relative_to(HERE).as_posix(): path.read_bytes()
             for pattern in COPIED for path in HERE.glob(pattern)}
    files["manifest.json"] = (json.dumps(manifest(browser), indent=2) + "\n").encode()
    files["content.js"] = bundled(HERE / CONTENT).encode()
    files["core/suffixes.js"] = suffixes().encode()
    files["core/generic.js"] = generic().encode()
    files["LICENSE"] = (HERE.parent / "LICENSE").read_bytes()
    return files


def suffixes() -> str:
    """The module with the rules of the public suffix list, private ones too, in ASCII."""
    from publicsuffixlist import PSLFILE

    lines = Path(PSLFILE).read_text(encoding="utf-8").splitlines()
    version = next((line.rpartition("VERSION: ")[2] for line in lines if "VERSION: " in line), "")
    rules = "\\n".join(sorted(set(_rules(lines))))
    return _SUFFIXES_NOTE.format(version=version) + f'export const RULES = "{rules}";\n'


def generic() -> str:
    """The module with the passages that any site may have."""
    lines = GENERIC.read_text().splitlines()
    hashes = " ".join(line for line in lines if not line.startswith("#"))
    return f'{_GENERIC_NOTE}export const GENERIC = "{hashes}";\n'


def _rules(lines: list[str]) -> Iterator[str]:
    for line in lines:
        rule = line.lower().split(" ")[0].rstrip()
        if rule and not rule.startswith("//"):
            yield ".".join(
                label if label.isascii() else label.encode("idna").decode()
                for label in rule.split("."))


if __name__ == "__main__":
    for made in build(Path(sys.argv[1] if len(sys.argv) > 1 else "dist/extension")):
        print(made)
