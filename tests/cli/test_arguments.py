"""The command line and the config file: what is understood, and how the rest is refused."""

import pickle
import re
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from beam_reuse.analyses.quilts.settings import QuiltSettings
from beam_reuse.analyses.reuse.settings import DetectionSettings, DiscoverySettings
from beam_reuse.cli.arguments import Arguments, UsageError, parse
from beam_reuse.cli.help_texts import COMMANDS
from beam_reuse.core.settings import ChunkSettings, SettingError
from beam_reuse.declaring.kinds import parse_size, show_size
from beam_reuse.declaring.settings import Settings
from beam_reuse.options.table import OPTIONS, options_of
from beam_reuse.options.values import default_text, recorded_settings, settings_from


@pytest.mark.parametrize("argv", [
    ["--analyses", "detection", "--top", "5"], ["--analyses", "discovery", "--matcher", "nilsimsa"],
    ["--analyses", "overlap", "--chunk-tags", "p"], ["--sweep", "grid", "--min-sources", "4,8"],
    ["--overlap-threshold", "3"], ["--gram-size", "5"],
])
def test_options_that_do_something_are_taken(argv: list[str]) -> None:
    assert parse(["run", *argv, "crawl"]).inputs == ("crawl",)


def test_a_config_may_set_options_of_any_analysis(tmp_path: Path) -> None:
    path = tmp_path / "job.yaml"
    path.write_text("analyses: overlap\ngram-size: 4\nsweep: grid\noverlap-threshold: 3\n")
    assert parse(["run", "a", "--config", str(path), "--overlap-chunkings", "whole"])
    with pytest.raises(UsageError, match="--analyses overlap,quilts"):
        parse(["run", "a", "--config", str(path), "--min-sources", "4"])


def test_a_number_may_be_the_name_of_an_input(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "2019").mkdir()
    assert parse(["run", "--gram-size", "5", "2019"]).inputs == ("2019",)


def test_inputs_and_options_may_be_mixed() -> None:
    got = parse(["run", "a", "--top", "5", "b", "-o", "out", "--overwrite", "c"])
    assert got == Arguments("run", {"top": 5, "output": "out", "overwrite": True},
                            ("a", "b", "c"), ())


def test_of_other_values_the_last_wins() -> None:
    assert parse(["run", "a", "-o", "one", "--top", "1", "--output", "two"]).values == {
        "output": "two", "top": 1}


def test_beams_own_options_keep_their_values_and_order() -> None:
    got = parse(["run", "--project", "p", "a", "--experiments=x", "--streaming",
                 "--flink_master", "[local]", "b", "-o", "out"])
    assert got.inputs == ("a", "b")
    assert got.beam_args == ("--project", "p", "--experiments=x", "--streaming",
                             "--flink_master", "[local]")


def test_after_two_dashes_everything_is_input() -> None:
    assert parse(["run", "-o", "out", "--", "--strange-name"]).inputs == ("--strange-name",)


def test_beams_options_may_have_any_value_that_looks_like_an_option() -> None:
    got = parse(["run", "a", "-o", "o", "--environment_config", "--x"])
    assert got.beam_args == ("--environment_config", "--x")


@pytest.mark.parametrize(
    ("argv", "told"),
    [
        ([], "give a command"),
        (["rum"], "Did you mean run?"),
        (["run", "--max-reject", "0.1"], "Did you mean --max-rejects?"),
        (["run", "--max_rejects", "0.1"], "Did you mean --max-rejects?"),
        (["run", "--flink_mastr", "x"], "Did you mean --flink_master?"),
        (["run", "--projct", "x"], "Did you mean --project?"),
        (["run", "--page-treshold", "x"], "Did you mean --page-threshold?"),
        (["run", "--tresh", "1"],
         "Did you mean --file-threshold, --chunk-threshold or --page-threshold?"),
        (["run", "--stopchunks", "x"], "Did you mean --stop-chunks?"),
        (["index", "a", "--top", "3"], "only of run"),
        (["index", "a", "--page-threshold", "0"],
         "only of run, clean, estimate, experiment mutate and check."),
        (["check", "--learn", "a.html", "--learn", "b.html"], "--learn is given twice"),
        (["evaluate", "r", "--pages", "a.csv", "--pages", "b.csv"], "--pages is given twice"),
        (["run", "a", "--top"], "--top needs a value"),
        (["run", "a", "-q"], "-q"),
        (["run", "a", "--runner", "FlinkRuner"], "Did you mean FlinkRunner?"),
        (["run", "--zzzzqqq"], "unknown option --zzzzqqq. See"),
        (["demo", "a"], "unrecognized arguments: a"),
        (["run", "a", "--analyses", "overlap", "--gram-size", "4"], "--analyses overlap,quilts"),
        (["run", "a", "--analyses", "quilts", "--top", "4"], "option of discovery"),
        (["run", "a", "--analyses", "quilts", "--matcher", "nilsimsa"], "option of detection"),
        (["run", "a", "--sweep", "grid"], "--sweep does nothing without a list"),
        (["run", "a", "--sweep-sources", "--gram-size", "4"], "such as --gram-size 5,4,7"),
        (["run", "a", "--overlap-chunkings", "whole", "--overlap-threshold", "3"],
         "--overlap-chunkings whole,2-lines"),
        (["run", "a", "--gram-size", "5", "4"], "lists take commas, no blanks: --gram-size 5,4"),
        (["run", "a", "--min-patch-fraction", "0.5,", "0.25"], "--min-patch-fraction 0.5,0.25"),
    ],
)
def test_what_is_not_understood_is_refused_with_the_way_out(argv: list[str], told: str) -> None:
    with pytest.raises(UsageError) as error:
        parse(argv)
    assert told in str(error.value)
    assert str(error.value).count("\n") <= 1


@pytest.mark.parametrize(
    ("option", "text", "value"),
    [
        ("max-record-bytes", "64M", 64 << 20),
        ("max-record-bytes", "1.5k", 1536),
        ("max-record-bytes", "5000", 5000),
        ("status", "404, 200,200", (200, 404)),
        ("status", "all", None),
        ("content-types", "all", ("document", "code", "other")),
        ("content-types", "other,document", ("document", "other")),
        ("chunk-threshold", "auto", None),
        ("chunk-threshold", "7", 7),
        ("max-rejects", "0.25", 0.25),
        ("chunk-tags", "p", ("p",)),
    ],
)
def test_values(option: str, text: str, value: object) -> None:
    assert parse(["run", "a", f"--{option}", text]).values[option] == value


@pytest.mark.parametrize(
    ("option", "text"),
    [
        ("status", "20x"), ("content-types", "html"), ("top", "many"), ("captures", "some"),
        ("max-record-bytes", "64X"), ("max-rejects", "half"), ("content-types", ","),
        ("analyses", ""), ("status", ","), ("max-record-bytes", "9" * 400),
    ],
)
def test_wrong_values_name_option_value_and_what_is_allowed(option: str, text: str) -> None:
    with pytest.raises(SettingError, match=f"--{option}: '{text}' is not allowed; it must be"):
        parse(["run", "a", f"--{option}", text])


@pytest.mark.parametrize(
    ("argv", "told"),
    [
        (["experiment", "inject", "--copies", f"1,{2**63}"],
         f"--copies: {2**63} is not allowed; it must be 1,000,000,000 at most"),
        (["experiment", "mutate", "--blind-copies", str(2**63)], "from 0 to 1,000,000,000"),
        (["experiment", "inject", "--copies", "2,1"], "--copies: 2,1 is not allowed; it must be a"),
        (["run", "--chunk-threshold", str(2**63)], r"auto, or from 0 to 2**63 - 1"),
        (["run", "--top", str(2**63)], r"from 1 to 2**63 - 1"),
        (["run", "--min-hosts", "0"], r"from 1 to 2**63 - 1"),
        (["run", "--min-chunks", str(2**63)], r"from 1 to 2**63 - 1"),
        (["run", "--min-chunk-bytes", str(2**70)], r"from 0 to 2**63 - 1"),
        (["run", "--status", "20,200"], "--status: 20 is not allowed"),
        (["run", "--matcher", "nilsimsa", "--nilsimsa-threshold", "115,300"],
         "--nilsimsa-threshold: 115,300 is not allowed; it must be from -128 to 128"),
    ],
)
def test_values_out_of_range_are_shown_as_typed_with_the_range(
    argv: list[str], told: str,
) -> None:
    with pytest.raises(SettingError) as error:
        settings_from(parse(argv).values)
    assert told in str(error.value)


def test_sizes_show_as_they_are_typed() -> None:
    for text in ("64M", "1G", "500K", "1023"):
        assert show_size(parse_size(text)) == text


@pytest.mark.parametrize("name", ["local", "flink", "DirectRunner", "my.own.Runner"])
def test_runners(name: str) -> None:
    assert parse(["run", "a", "--runner", name]).values["runner"] == name


def test_no_option_given_is_the_default() -> None:
    assert settings_from({}) == Settings()


def test_every_setting_has_an_option_and_shows_its_default() -> None:
    recorded = recorded_settings("run", Settings())
    assert recorded == {
        "analyses": ["discovery", "detection", "near-duplicates", "overlap", "quilts",
                     "boilerplate"],
        "captures": "latest", "status": [200],
        "content-types": ["document", "code"], "max-record-bytes": 64 << 20, "max-rejects": 0.5,
        "max-prefix-depth": 96, "max-path-repeats": 5, "parser": "lexbor",
        "chunk-tags": ["p", "div"],
        "chunk-normalise": "whitespace", "classic": False, "min-chunk-bytes": 0,
        "stop-chunks": [], "no-builtin-stop-chunks": False, "file-threshold": "auto",
        "chunk-threshold": "auto", "top": None, "min-hosts": 1, "labels": [], "min-chunks": 1,
        "page-threshold": "auto", "neighbourhood-threshold": "auto",
        "neighbourhood-score": "pooled", "matcher": "exact", "nilsimsa-threshold": [115],
        "shingle-size": 8, "min-values": 84, "supershingles": 6, "b-threshold": 2,
        "projection-bits": 384, "c-threshold": 372, "combined-threshold": 355, "max-group": 1000,
        "keep-by": "hybrid", "keep-rule": "plainest-url", "min-containment": None,
        "overlap-chunkings": ["whole", "4-lines", "2-lines"], "overlap-threshold": "auto",
        "server-overlap-threshold": "auto", "mirror-containment": 0.9, "skip-containment": 0.9,
        "max-df": 200,
        "overlap-method": "iceberg",
        "gram-size": [5],
        "max-pages-per-gram": [50], "min-sources": [4], "min-patch-fraction": [0.5],
        "sweep": "pivot", "sweep-sources": False, "quilt-sources": "foreign", "ip-table": [],
        "min-source-share": 0.02, "quilt-copy": 0.9,
        "boilerplate-pages": 5, "boilerplate-share": 0.1, "ignore-boilerplate": False,
        "min-chunk-tokens": 0, "count-own": False, "min-matching": 1,
    }
    for option in OPTIONS:
        command = "run" if "run" in option.commands else option.commands[0]
        if shown := default_text(option, command):
            given = {option.name: option.read(shown)}
            assert settings_from(given, command) == settings_from({}, command)


@pytest.mark.parametrize(("given", "said"), [
    (["--gram-size", "5,"], "--gram-size: '5,'"), (["--gram-size", "5,,4"], "--gram-size: '5,,4'"),
    (["--min-patch-fraction", ",0.5"], "--min-patch-fraction: ',0.5'"),
    (["--gram-size", "0"], "--gram-size: 0"), (["--gram-size", "5,5"], "--gram-size: 5,5"),
    (["--max-pages-per-gram", "50,1"], "--max-pages-per-gram: 50,1"),
    (["--min-sources", "0"], "--min-sources: 0"),
    (["--min-patch-fraction", "1.5"], "--min-patch-fraction: 1.5"),
    (["--min-source-share", "2"], "--min-source-share: 2"),
    (["--quilt-copy", "0.3"], "--quilt-copy: 0.3"), (["--quilt-copy", "2"], "--quilt-copy: 2"),
    (["--quilt-copy", "most"], "--quilt-copy: 'most'.*0.5 to 1, or 1.01"),
    (["--ip-table", "hosts.txt"], "--quilt-sources ip"),
])
def test_quilt_settings_out_of_range_are_refused(given: list[str], said: str) -> None:
    with pytest.raises(SettingError, match=said):
        settings_from(parse(["run", "a", *given]).values)


def test_labels_leave_out_short_chunks() -> None:
    assert settings_from({}, "labels").stops.min_chunk_bytes == 100
    assert settings_from({"min-chunk-bytes": 7}, "labels").stops.min_chunk_bytes == 7


def test_options_with_many_files() -> None:
    parsed = parse(["run", "a", "b", "--labels", "x,y", "z", "--stop-chunks=s", "-o", "out"])
    assert parsed.inputs == ("a", "b")
    assert parsed.values["labels"] == ("x,y", "z")
    assert parsed.values["stop-chunks"] == ("s",)


def test_an_index_records_only_what_it_depends_on() -> None:
    assert not {"analyses", "top", "min-hosts"} & set(recorded_settings("index", Settings()))


def test_classic_fixes_the_chunk_rule_and_contradictions_are_refused() -> None:
    assert settings_from({"classic": True}).chunks == ChunkSettings.published()
    with pytest.raises(SettingError, match="--classic"):
        settings_from({"classic": True, "chunk-tags": ("p", "div")})
    with pytest.raises(SettingError, match="--top"):
        settings_from({"top": 5, "chunk-threshold": 5})


@pytest.mark.parametrize("asked", ["patchwork", "discovery,patchwork"])
def test_analyses_that_are_not_there_are_refused_with_those_that_are(asked: str) -> None:
    with pytest.raises(SettingError, match="discovery"):
        settings_from(parse(["run", "a", "--analyses", asked]).values)


def test_help_of_run_names_the_tables_of_near_duplicates(
    capsys: pytest.CaptureFixture[str],
) -> None:
    with pytest.raises(SystemExit):
        parse(["run", "--help"])
    words = set(re.findall(r"\w+", capsys.readouterr().out))
    assert words >= {"identity_sets", "near_duplicates", "near_duplicate_clusters",
                     "near_duplicate_degrees", "site_pairs", "keep", "families"}


@pytest.mark.parametrize("argv", [["--help"], ["run", "--help"], ["run", "x"], ["--version"]])
def test_help_and_simple_mistakes_need_no_beam(argv: list[str]) -> None:
    script = (
        "import sys; from beam_reuse.cli.main import main\n"
        "try: main(sys.argv[1:])\n"
        "except SystemExit: pass\n"
        "assert not {'apache_beam', 'pyarrow', 'numba', 'numpy', 'rich'} & set(sys.modules)"
    )
    subprocess.run([sys.executable, "-c", script, *argv], check=True, capture_output=True)


@pytest.mark.parametrize("command", [name for name in COMMANDS if options_of(name)])
def test_help_names_every_option_and_shows_examples(
    command: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as end:
        parse([command, "--help"])
    assert end.value.code == 0
    shown = capsys.readouterr().out
    assert all(f"--{option.name}" in shown for option in options_of(command))
    assert "examples:" in shown
    assert max(map(len, shown.splitlines())) <= 100


def test_python_names_fields_where_the_command_line_names_options() -> None:
    """Also where one group of settings speaks of another."""
    labels = DetectionSettings(labels=("a.brl",))
    with pytest.raises(SettingError, match=r"^detection\.labels: 'a.brl' .* among the analyses$"):
        Settings(analyses=("quilts",), detection=labels)
    with pytest.raises(SettingError, match=r"^--labels: 'a.brl' .* among the --analyses$"):
        settings_from({"analyses": ("quilts",), "labels": ("a.brl",)})
    with pytest.raises(SettingError, match=r"^classic means tags p and normalise none: leave both"):
        ChunkSettings(classic=True)
    with pytest.raises(SettingError, match=r"^max_rejects: 2 is not allowed; it must be from 0 to"):
        Settings(max_rejects=2)


def test_settings_hold_those_of_every_analysis() -> None:
    settings = Settings(quilts=QuiltSettings(min_sources=9))
    assert settings.quilts.min_sources == (9,)
    changed = replace(settings, discovery=DiscoverySettings(top=3), max_rejects=1.0)
    assert (changed.quilts, changed.discovery.top) == (settings.quilts, 3)
    assert changed != settings and replace(changed) == changed
    assert pickle.loads(pickle.dumps(changed)) == changed
    with pytest.raises(TypeError, match="no field 'quilt'"):
        Settings(quilt=QuiltSettings())
    with pytest.raises(AttributeError, match="no field 'quilt'"):
        _ = settings.quilt
