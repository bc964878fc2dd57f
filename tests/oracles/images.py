"""The token an IMG adds (SPEC §4), by resolving every `src` the long way."""

from beam_reuse.core.urls import BadUrl, PageName, name_page, resolve_url


def image_token(source: str, base: str | None, page: PageName) -> str:
    """The token, empty where there is none."""
    if not source.strip():
        return ""
    start = page.url if base is None else resolve_url(page.url, base)
    try:
        image = name_page(resolve_url(start, source))
    except BadUrl:
        return ""
    if image.host != page.host:
        return image.url
    return image.url.partition("?")[0].rpartition("/")[2]
