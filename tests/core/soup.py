"""Random HTML of the worst kind: what a parser has to make a tree of, whatever it is."""

from hypothesis import strategies as st

NAMES = st.sampled_from([
    "a", "area", "b", "base", "br", "body", "button", "caption", "col", "dd", "div", "font", "form",
    "frameset", "h1", "head", "html", "i", "iframe", "img", "image", "input", "li", "listing",
    "math", "mi", "annotation-xml", "nobr", "noembed", "noframes", "noscript", "object", "option",
    "p", "plaintext", "pre", "script", "select", "span", "style", "svg", "desc", "foreignObject",
    "g", "table", "td", "template", "textarea", "title", "tr", "ul", "wbr", "xmp", "x-y", "a=b",
    "noscriptt", "templat", "plaintex", "p\0q", "é",
])
ATTRIBUTES = st.sampled_from([
    "", " href=x", " href='a&amp;b\"c'", " href", " src=\"i'<p>\"", " SRC=j src=k",
    " href=\xa0&lt;", " =\"=", " a<b='>'", " \"", "/", " src=''", " hidden", " encoding=text/html",
    "\nhref\n=\nx",
])
PIECES = st.one_of(
    st.builds("<{}{}>".format, NAMES, ATTRIBUTES),
    st.builds("</{}>".format, NAMES),
    st.sampled_from([
        "text", " ", "\n", "\n\n", "\f", "\r", "\t", "\xa0", "&amp;", "&lt;", "&nbsp;", "&#12;",
        "&#10;", "&lt;/style&gt;", "&lt;/svg&gt;", "</svg>", "<!--", "-->", "--!>", "<!-->",
        "<!doctype html>", "<![CDATA[", "]]>", "<?", "<", ">", "&", "\0", "é", "日本", "\u2028",
        "\ud800", "<script>", "</script>", "<!--<script>", "\"", "'", "<p>", "<br/>",
    ]),
)
SOUP = st.lists(PIECES, max_size=25).map("".join)
