"""What is kept of pages that are alike, and families of them on different domains."""

import json
from pathlib import Path

from beam_reuse.analyses.near_duplicates.settings import NearDuplicateSettings
from beam_reuse.io.results import tables
from tests.analyses.near_copies import Document, write
from tests.analyses.test_near_duplicates import expect, run, small_row_groups
from tests.oracles.near_duplicates import NearDuplicates

__all__ = ["small_row_groups"]


def test_pages_of_few_words_are_contained_by_their_words(tmp_path: Path) -> None:
    """Fewer than five tokens: each of them is looked for, on a page of any length."""
    texts = {"aa": "one two three four " * 30, "bb": "four three two one",
             "cc": "one two three four", "d": "one two three five", "image": ""}
    documents = [Document(f"http://h.example/{name}", text) for name, text in texts.items()]
    documents += [Document(f"http://h{n}.example/i", f"<img src=/{n}.png>" * n, html=True)
                  for n in (1, 2)]
    near = NearDuplicateSettings(c_threshold=200, keep_by="c", keep_rule="longest",
                                 min_containment=0.75)
    run([write(tmp_path / "few.jsonl", documents)], tmp_path / "out", near)
    expected = expect(tmp_path / "out", documents, near)
    rows = {str(row["url"])[-2:]: row["containment"] for row in expected.kept}
    assert (rows["aa"], rows["bb"], rows["cc"], rows["/d"]) == (None, 1.0, 1.0, 0.75)


def test_the_plainest_url_is_kept(tmp_path: Path) -> None:
    """Without a query before the shorter, and that before the smaller."""
    text = " ".join(f"word{n}" for n in range(50))
    documents = [Document(f"http://a.example/{path}", text)
                 for path in ("?", "a?b=1", "page/long", "page/b", "page/c")]
    link = "<link rel=canonical href=http://c.example/?c=2>"
    more = [Document("http://c.example/?c=2", f"{text} more"),
            Document("http://c.example/a", f"{link}{text} more", html=True),
            Document("http://c.example/far", link, html=True),
            Document("http://c.example/b", f"<link rel=canonical href=/b>{text} more", html=True)]
    run([write(tmp_path / "same.jsonl", documents)], tmp_path / "one", NearDuplicateSettings())
    expected = expect(tmp_path / "one", documents, NearDuplicateSettings())
    assert [row["url"] for row in expected.kept if row["keep"]] == ["http://a.example/page/b"]
    run([write(tmp_path / "more.jsonl", documents + more)], tmp_path / "two",
        NearDuplicateSettings())
    expected = expect(tmp_path / "two", documents + more, NearDuplicateSettings())
    assert {row["url"] for row in expected.kept if row["keep"]} == {
        "http://a.example/page/b", "http://c.example/?c=2", "http://c.example/far"}


def test_families_have_the_same_words_whatever_their_images(tmp_path: Path) -> None:
    """A login page of eight words or more is a family with what has its words and other images;
    fewer words, as of galleries, and pages of images alone are none."""
    login, gallery = "log in with your name and your secret word", "our summer in the hills"
    documents = [
        Document(f"http://{name}{n}.example/", f"<p>{text}</p>" + "".join(
            f"<img src=http://cdn{n}.example/{n}-{i}.png>" for i in range(30)), html=True)
        for name, text in (("kit", login), ("album", gallery), ("banner", "")) for n in range(3)]
    documents.append(Document("http://plain.example/", login))
    for workers, near in enumerate((NearDuplicateSettings(), NearDuplicateSettings(
            shingle_size=9)), 1):
        out = tmp_path / str(workers)
        run([write(tmp_path / "kits.jsonl", documents)], out, near)
        rows = tables.read(str(out), "families").to_pylist()
        pages = [document.page() for document in documents]
        assert rows == NearDuplicates(pages, near).tables()["families"]
        assert {(row["domain"], row["alike"], row["similarity"]) for row in rows} == {
            *((f"kit{n}.example", "words", 1.0) for n in range(3)), ("plain.example", "words", 1.0)}
        assert not any(tables.read(str(out), "near_duplicates")["hybrid"].to_pylist())


def test_families_are_of_documents_on_different_domains(tmp_path: Path) -> None:
    """Of a file, of words, of what is similar; not of code, nor of one domain alone."""
    words = [f"word{n}" for n in range(400)]
    text, script = " ".join(words), "<script>document.title = 1</script>"
    documents = [
        *(Document(f"http://park{n}.example/", text) for n in range(3)),
        Document("http://typed.example/", text.replace(" ", "  ")),
        Document("http://near.example/", " ".join([*words, "more"])),
        *(Document(f"http://script{n}.example/", script, html=True) for n in range(2)),
        *(Document(f"http://empty{n}.example/", "", html=True) for n in range(2)),
        *(Document(f"http://{host}.alone.example/", f"alone {text}"[:90]) for host in "ab")]
    path = write(tmp_path / "all.jsonl", documents)
    with path.open("a") as lines:
        for n in range(2):
            lines.write(json.dumps({"url": f"http://code{n}.example/jquery.js", "text": text,
                                    "content_type": "text/javascript"}) + "\n")
    run([path], tmp_path / "out", NearDuplicateSettings())
    rows = tables.read(str(tmp_path / "out"), "families").to_pylist()
    pages = [document.page() for document in documents]
    expected = NearDuplicates(pages, NearDuplicateSettings()).tables()["families"]
    assert rows == expected
    assert {(row["domain"], row["alike"]) for row in rows} == {
        *((f"park{n}.example", "file") for n in range(3)), ("typed.example", "words"),
        ("near.example", "similar"), *((f"script{n}.example", "file") for n in range(2))}
