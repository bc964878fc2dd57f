"""Config files: what they may say, and what of it is refused."""

from pathlib import Path

import pytest

from beam_reuse.cli.arguments import Arguments, parse
from beam_reuse.cli.config import ConfigError
from beam_reuse.core.errors import UserError
from beam_reuse.core.settings import SettingError


def config(folder: Path, text: str) -> str:
    path = folder / "job.yaml"
    path.write_text(text)
    return str(path)


def test_a_config_file_gives_options_inputs_and_beams_options(tmp_path: Path) -> None:
    path = config(tmp_path, """
        inputs: [a.warc.gz, b]
        output: out
        status: [200, 404]
        max-record-bytes: 1M
        overwrite: true
        classic: false
        top: 7
        min-hosts:
        flink_master: "[local]"
        experiments: [x, y]
        streaming: true
        environment_config: {command: boot}
    """)
    got = parse(["run", "--config", path, "--top", "9", "--project=p"])
    assert got.inputs == ("a.warc.gz", "b")
    assert got.values == {
        "config": path, "output": "out", "status": (200, 404), "max-record-bytes": 1 << 20,
        "overwrite": True, "classic": False, "top": 9,
    }
    assert got.beam_args == (
        "--flink_master=[local]", "--experiments=x", "--experiments=y", "--streaming",
        '--environment_config={"command": "boot"}', "--project=p",
    )


def test_underscores_in_keys_are_understood_as_dashes(tmp_path: Path) -> None:
    path = config(tmp_path, "max_rejects: 0.1\nno_builtin_stop_chunks: true\nflink_master: x")
    got = parse(["run", "a", "--config", path])
    assert got.values == {"config": path, "max-rejects": 0.1, "no-builtin-stop-chunks": False}
    assert got.beam_args == ("--flink_master=x",)


def test_the_command_lines_inputs_replace_those_of_the_file(tmp_path: Path) -> None:
    path = config(tmp_path, "inputs: a\ntop: 3")
    assert parse(["index", "b", "--config", path]).inputs == ("b",)
    assert parse(["index", "--config", path]) == Arguments("index", {"config": path}, ("a",), ())


@pytest.mark.parametrize(("text", "inputs"), [
    ("5", ("5",)), ("[2024, b]", ("2024", "b")), ("2024-05-06", ("2024-05-06",)), ("", ()),
    ("[]", ())])
def test_inputs_may_have_any_name(tmp_path: Path, text: str, inputs: tuple[str, ...]) -> None:
    assert parse(["run", "--config", config(tmp_path, f"inputs: {text}")]).inputs == inputs


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("max_rejets: 0.1", "Did you mean max-rejects?"),
        ("max_rejects: 0.1\nmax-rejects: 0.2", "max-rejects is given twice"),
        ("top: 3\nanalyses: quilts\ntop: 4", "top is given twice; keep one at line 3"),
        ("flink_mastr: x", "Did you mean flink_master?"),
        ("input: x", "Did you mean inputs?"),
        ("config: other.yaml", "only be given on the command line"),
        ("top: {a: 1}", "top must be a value or a list"),
        ("inputs: {a: 1}", "inputs must be a path or a list of paths"),
        ("inputs: [[a], b]", "inputs must be a path or a list of paths"),
        ("just words", "option: value"),
        ("a: [", "not valid YAML at line"),
    ],
)
def test_config_files_that_are_refused(tmp_path: Path, text: str, told: str) -> None:
    with pytest.raises(ConfigError) as error:
        parse(["run", "--config", config(tmp_path, text)])
    assert told in str(error.value)
    assert "job.yaml" in str(error.value)


def test_a_config_file_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(UserError, match=r"absent\.yaml: No such file or directory\. Give a YAML"):
        parse(["run", "--config", str(tmp_path / "absent.yaml")])
    with pytest.raises(UserError, match=r"Is a directory\. Give a YAML"):
        parse(["run", "--config", str(tmp_path)])
    (tmp_path / "latin.yaml").write_bytes(b"output: caf\xe9")
    with pytest.raises(UserError, match=r"latin\.yaml: no text in UTF-8"):
        parse(["run", "--config", str(tmp_path / "latin.yaml")])


def test_a_config_files_values_are_checked_as_the_command_lines(tmp_path: Path) -> None:
    with pytest.raises(SettingError, match="--top: 'many'"):
        parse(["run", "--config", config(tmp_path, "top: many")])
