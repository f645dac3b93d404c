"""Puts the files of the dbt package into wheels; pyproject.toml says all the rest."""

import shutil
from pathlib import Path
from runpy import run_path

from setuptools import setup
from setuptools.command.build_py import build_py

FILES = run_path("python/dbt_debezium/package_files.py")


class BuildWithDbtPackage(build_py):
    """An editable install reads them where they are."""

    def dbt_files(self) -> list[str]:
        patterns = (*FILES["PACKAGE"], *FILES["FIRST"], *FILES["PAGES"])
        return [str(file) for file in FILES["package_files"](Path.cwd(), patterns)]

    def run(self) -> None:
        super().run()
        if not self.editable_mode:
            # A clone keeps its folder `build`, which has the files of the build before.
            shutil.rmtree(Path(self.build_lib, FILES["NAME"], FILES["CARRIED"]), ignore_errors=True)
            for file in self.dbt_files():
                copy = Path(self.build_lib, FILES["NAME"], FILES["CARRIED"], file)
                self.mkpath(str(copy.parent))
                self.copy_file(file, str(copy))

    def get_source_files(self) -> list[str]:
        return super().get_source_files() + self.dbt_files()


setup(cmdclass={"build_py": BuildWithDbtPackage})
