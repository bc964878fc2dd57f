"""Judged hashes and how often each occurs."""

from pathlib import Path

import pyarrow.parquet as pq

from beam_reuse.core.labels import LabelKind
from beam_reuse.experiments.loading import SCHEMAS, load_judged
from beam_reuse.experiments.tables import arrow_table

FILE_AND_CHUNK, FILE, CHUNK, NOWHERE = ("aa" * 20, "bb" * 20, "cc" * 20, "dd" * 20)


def test_a_bare_hash_is_judged_as_one_kind_alone(tmp_path: Path) -> None:
    rows = [
        {"kind": int(kind), "sha1": sha1, "count": count} for kind, sha1, count in (
            (LabelKind.FILE, FILE_AND_CHUNK, 7), (LabelKind.CHUNK, FILE_AND_CHUNK, 7),
            (LabelKind.FILE, FILE, 3), (LabelKind.CHUNK, CHUNK, 5))]
    (tmp_path / "occurrences").mkdir()
    pq.write_table(arrow_table(SCHEMAS["occurrences"], rows),
                   tmp_path / "occurrences" / "part.parquet")
    (tmp_path / "bad").write_text("\n".join([FILE_AND_CHUNK, CHUNK, NOWHERE]))
    (tmp_path / "benign").write_text(FILE)
    judged = load_judged(str(tmp_path), [str(tmp_path / "bad")], [str(tmp_path / "benign")])
    assert {kind: (found.bad.tolist(), found.benign.tolist()) for kind, found in judged.items()
            } == {"file": ([7], [3]), "chunk": ([5, 0], [])}
