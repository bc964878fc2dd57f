"""What kernels declare is held against what is asked of their rows, and against what they give."""

import pickle

import numpy as np
import pytest

from beam_reuse.columnar.block import Block, VarBytes
from beam_reuse.columnar.schema import (
    KIND,
    NOTHING,
    NUMBER,
    PAGE,
    TEXT,
    UNSIGNED,
    columns,
    gives,
    less,
    same,
    types_of,
)
from beam_reuse.columnar.shuffle import Shuffle
from beam_reuse.columnar.store import Store
from beam_reuse.rows import Count, Plan, Tagged
from beam_reuse.rows.folds import FindFrequent
from beam_reuse.rows.ranking import rank
from tests.rows.running import run

PAGES = columns(page=PAGE, url=TEXT, bytes=NUMBER)
GRAMS = columns(gram=UNSIGNED, page=PAGE)
PLAN = Plan(Shuffle(Store("inline")))
BLOCK = Block({"page": np.arange(3, dtype=np.uint64), "bytes": np.arange(3),
               "url": VarBytes.from_list([b"a", b"b", b"c"])})


@gives(GRAMS, {"short": columns(page=PAGE)})
def gram_rows(pages):
    yield Block({"gram": pages["page"], "page": pages["page"]})
    yield Tagged("short", pages.select(("page",)))


@gives(lambda rows, name: columns(rows, **{name: KIND}))
def with_kind(rows, name):
    return rows.with_columns(**{name: np.zeros(len(rows), np.uint8)})


@gives(lambda left, right, *_: columns(left, less(right, "page")))
def joined(left, right):
    return None


@gives(same)
def first_rows(block, starts, sizes):
    return block.take(starts)


@gives(same, lambda rows, *_: {"dropped": rows})
def kept(block, starts):
    yield block.take(starts)
    yield Tagged("dropped", block)


@gives(NOTHING)
def counted(rows):
    return Count("rows", len(rows))


def undeclared(rows, *_):
    return rows


def pages():
    return PLAN.rows([BLOCK], "pages", PAGES)


def known(rows):
    return types_of(rows.columns)


def test_declared_kernels_stay_plain_functions():
    assert pickle.loads(pickle.dumps(gram_rows)) is gram_rows
    assert gram_rows.__name__ == "gram_rows"
    assert [len(each[1]) if isinstance(each, Tagged) else len(each)
            for each in gram_rows(BLOCK)] == [3, 3]


def test_the_columns_of_rows_follow_from_those_of_kernels():
    rows, grams = pages(), pages().map(gram_rows)
    assert grams.columns == GRAMS
    assert grams.tagged("short").columns == columns(page=PAGE)
    assert known(rows.map(with_kind, "kind")) == {**types_of(PAGES), "kind": "uint8"}
    assert known(rows.group("page", first_rows, reducing={"bytes": "sum"})) == {
        "page": "uint64", "bytes": "int64"}
    assert known(grams.reduce("page", {"gram": "min"})) == {"page": "uint64", "gram": "uint64"}
    assert known(rows.map(with_kind, "k").reduce("page", {"k": "sum"})) == {
        "page": "uint64", "k": "uint64"}
    assert known(grams.distinct("page")) == {"page": "uint64"}
    assert rows.top(3, "bytes", "url").columns == rows.columns
    assert rows.only(grams.keys("page")).columns == rows.repeated("url", 8).columns == PAGES
    assert known(rows.join(grams, "page", joined)) == {**types_of(PAGES), "gram": "uint64"}
    ranked = rank(rows, "url", kept)
    assert known(ranked.rows) == {**types_of(PAGES), "rank": "uint64"}
    assert ranked.found.tagged("dropped").columns == PAGES


def test_nothing_is_known_of_rows_of_kernels_that_declare_nothing():
    rows = pages().map(undeclared)
    assert rows.columns is None
    for each in (rows, rows + pages(), rows.tagged("any"), rows.map(with_kind, "kind"),
                 rows.reduce("any", {"other": "sum"}), rank(rows, "any", undeclared).rows,
                 rank(pages(), "url", undeclared).found.tagged("any"), PLAN.rows([BLOCK])):
        assert each.columns is None
    assert rows.map(gram_rows).columns == GRAMS
    assert PLAN.nothing().columns is None


WRONG = {
    "group by 'pages': rows of gram_rows have gram, page":
        lambda grams: grams.group("pages", first_rows),
    "group by 'rank': rows of gram_rows have gram, page":
        lambda grams: grams.group("gram", first_rows, order="rank"),
    "group, reducing 'size': rows of gram_rows have gram, page":
        lambda grams: grams.group("gram", first_rows, reducing={"size": "sum"}),
    "stream by 'a': rows of gram_rows have gram, page": lambda grams: grams.stream("a", undeclared),
    "reduce by 'a': rows of gram_rows have gram, page": lambda grams: grams.distinct("a"),
    "reduce by 'gram': rows of gram_rows (short) have page":
        lambda grams: grams.tagged("short").reduce("gram", {}),
    "join by 'gram': rows of pages have page, url, bytes":
        lambda grams: grams.join(pages(), "gram", joined),
    "join: rows of with_kind have 'page' as uint8, rows of gram_rows have 'page' as uint64":
        lambda grams: pages().map(with_kind, "page").join(grams, "page", joined),
    "top by 'size': rows of gram_rows have gram, page": lambda grams: grams.top(3, "size", "page"),
    "into_buckets by 'a': rows of gram_rows have gram, page":
        lambda grams: grams.into_buckets(undeclared, order="a", kernel=undeclared),
    "UnionKeys of 'url': rows of gram_rows have gram, page": lambda grams: grams.keys("url"),
    "FindRepeats of 'url': rows of gram_rows have gram, page":
        lambda grams: grams.repeated("url", 8),
    "FindFrequent of 'key': rows of gram_rows have gram, page":
        lambda grams: grams.fold(FindFrequent(("key",), 8, 3)),
    "total of 'bytes': rows of gram_rows have gram, page": lambda grams: grams.total("bytes"),
    "gathered by 'url': rows of gram_rows have gram, page": lambda grams: grams.gathered("url"),
    "tagged 'long': gram_rows gives main, short": lambda grams: grams.tagged("long"),
    "+: rows of gram_rows have 'gram' as uint64, rows of pages have no 'gram'":
        lambda grams: grams + pages(),
    "+: rows of gram_rows, pages (of all) have no 'x', rows of with_kind have 'x' as uint8":
        lambda grams: grams + PLAN.rows([], "pages (of all)", GRAMS) + grams.map(with_kind, "x"),
    "+: rows of gram_rows have 'page' as uint64, rows of with_kind have 'page' as uint8":
        lambda grams: grams + grams.map(with_kind, "page"),
}


@pytest.mark.parametrize("sentence", WRONG)
def test_what_rows_do_not_have_is_refused_where_it_is_asked_for(sentence):
    with pytest.raises(ValueError) as error:
        WRONG[sentence](pages().map(gram_rows))
    assert str(error.value) == sentence


def test_known_rows_are_refused_at_once():
    with pytest.raises(TypeError, match="pages gives rows that have no 'url'; it declares 'url'"):
        PLAN.rows([BLOCK.without("url")], "pages", PAGES)


def test_rows_that_only_count_may_be_added_to_any():
    rows = pages()
    some = rows.map(counted) + rows + rows.map(counted)
    assert some.columns == PAGES
    assert rows.map(counted).columns == NOTHING


@gives(GRAMS, {"short": columns(page=PAGE)})
def wrong_rows(pages, how):
    rows = Block({"gram": pages["page"], "page": pages["page"]})
    if how == "type":
        yield rows.with_columns(gram=pages["bytes"])
    elif how == "more":
        yield rows.with_columns(bytes=pages["bytes"])
    elif how == "fewer":
        yield rows.without("gram")
    elif how == "of a tag":
        yield Tagged("short", rows)
    elif how == "tag":
        yield Tagged("long", rows)
    else:
        yield rows.select(("page", "gram"))


@gives(GRAMS)
def wrong_groups(block, starts, sizes):
    return block.take(starts)


@pytest.mark.parametrize(("how", "sentence"), [
    ("type", "wrong_rows gives rows that have 'gram' as int64; it declares 'gram' as uint64"),
    ("more", "wrong_rows gives rows that have 'bytes' as int64; it declares no 'bytes'"),
    ("fewer", "wrong_rows gives rows that have no 'gram'; it declares 'gram' as uint64"),
    ("of a tag", "wrong_rows gives rows tagged 'short' that have 'gram' as uint64; "
                 "it declares no 'gram'"),
    ("tag", "wrong_rows gives rows tagged 'long'; it declares main, short"),
    ("group", "wrong_groups gives rows that have no 'gram'; it declares 'gram' as uint64"),
])
def test_what_a_kernel_gives_is_what_it_declares(how, sentence):
    def write(plan):
        rows = plan.rows([BLOCK], "pages", PAGES)
        if how == "group":
            return {"out": rows.group("page", wrong_groups)}
        return {"out": rows.map(wrong_rows, how).map(undeclared)}

    with pytest.raises(Exception, match=sentence):
        run(PLAN.shuffle, write)


def test_rows_from_outside_are_what_they_are_declared_to_be():
    def write(plan):
        given = plan.given([BLOCK.without("url")], "references").outputs[0].node.pieces
        return {"out": plan.pieces(given, "pages", PAGES).map(undeclared)}

    with pytest.raises(Exception, match="read pages gives rows that have no 'url'"):
        run(PLAN.shuffle, write)


def test_the_order_of_columns_is_free():
    found = run(PLAN.shuffle, lambda plan: {
        "out": plan.rows([BLOCK], "pages", PAGES).map(wrong_rows, "order")})
    assert found.rows["out"][0].names == ("page", "gram")
