"""Puts the files of the dbt package and the pages into wheels, and makes the page for PyPI.

pyproject.toml says all the rest.
"""

import posixpath
import re
import shutil
import tomllib
from collections.abc import Container
from pathlib import Path
from runpy import run_path
from urllib.parse import urlsplit

from setuptools import setup
from setuptools.command.build_py import build_py

FILES = run_path("python/dbt_debezium/package_files.py")
PROJECT = tomllib.loads(Path("pyproject.toml").read_text(encoding="utf-8"))["project"]
REPOSITORY = PROJECT["urls"]["Repository"]
TAG = f"v{PROJECT['version']}"
LINK = re.compile(r"(?P<is_picture>!?)(?P<text>\[[^][]*\])\((?P<address>[^()\s]+)\)")


def with_addresses(page: str, text: str, there: Container[str] = ()) -> str:
    """A page in which links lead to the repository, at the tag of this version.

    Args:
        page: its path in the repository.
        text: what it says, in Markdown.
        there: paths that are beside it, so that links to them stay.
    """

    def address(link: re.Match[str]) -> str:
        place = urlsplit(link["address"])
        path = posixpath.normpath(posixpath.join(posixpath.dirname(page), place.path))
        if place.scheme or not place.path or path in there:
            return link[0]
        kind = "raw" if link["is_picture"] else "blob"
        anchor = f"#{place.fragment}" if place.fragment else ""
        return f"{link['is_picture']}{link['text']}({REPOSITORY}/{kind}/{TAG}/{path}{anchor})"

    return LINK.sub(address, text)


class BuildWithDbtPackage(build_py):
    """An editable install reads them where they are."""

    def dbt_files(self) -> list[str]:
        patterns = (*FILES["PACKAGE"], *FILES["EXAMPLE"], *FILES["FIRST"], *FILES["PAGES"])
        return [str(file) for file in FILES["package_files"](Path.cwd(), patterns)]

    def run(self) -> None:
        super().run()
        if not self.editable_mode:
            # A clone keeps its folder `build`, which has the files of the build before.
            shutil.rmtree(Path(self.build_lib, FILES["NAME"], FILES["CARRIED"]), ignore_errors=True)
            files = self.dbt_files()
            for file in files:
                copy = Path(self.build_lib, FILES["NAME"], FILES["CARRIED"], file)
                self.mkpath(str(copy.parent))
                if file.endswith(".md"):
                    text = Path(file).read_text(encoding="utf-8")
                    copy.write_text(with_addresses(file, text, {*files}), encoding="utf-8")
                else:
                    self.copy_file(file, str(copy))

    def get_source_files(self) -> list[str]:
        return super().get_source_files() + self.dbt_files()


if __name__ == "__main__":
    setup(
        cmdclass={"build_py": BuildWithDbtPackage},
        long_description=with_addresses("README.md", Path("README.md").read_text(encoding="utf-8")),
        long_description_content_type="text/markdown",
    )
