"""The sample crawl as files."""

import os

from beam_reuse.demo.sample import SampleCrawl
from beam_reuse.io.files import LocalFiles, is_local, write_whole
from beam_reuse.io.results.run_folder import FolderRefusedError


def write_crawl(crawl: SampleCrawl, folder: str) -> list[str]:
    """Write the crawl's files to `folder` and give their paths.

    Refuses a folder that holds anything else.
    """
    if not is_local(folder):
        raise FolderRefusedError(f"-o {folder}: the demo writes to a local folder.")
    files = LocalFiles()
    contents = crawl.files()
    others = sorted(set(files.list(folder)) - set(contents))
    if others:
        raise FolderRefusedError(
            f"-o: {folder} holds files that are not the demo's ({others[0]}). "
            "Choose a new or an empty folder."
        )
    for name, content in contents.items():
        write_whole(files, os.path.join(folder, name), content)
    return [os.path.join(folder, name) for name in contents]
