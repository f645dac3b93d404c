"""The grammar of the running Spark: its alternatives, and which of them a statement uses."""

import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pyspark
from pyspark.sql import SparkSession

from dbt_debezium.home import jars_dir

PARSERS = {
    "": ("spark-sql-api", "org.apache.spark.sql.catalyst.parser.SqlBase"),
    "iceberg.": (
        "iceberg-spark-runtime",
        "org.apache.spark.sql.catalyst.parser.extensions.IcebergSqlExtensions",
    ),
}
"""Prefixes of names here: the jar of a parser, and how its classes begin."""
RULE = "ParserRuleContext"
OF_WORDS = {
    *("Constant", "DataType", "ErrorCapturingIdentifierExtra", "ExpressionProperty"),
    *(
        "FileFormat",
        "GenerationExpression",
        "Identifier",
        "IntegerValue",
        "Number",
        "ParameterMarker",
    ),
    *("PartitionField", "Property", "RowFormat", "SimpleStrictIdentifier"),
    *("SingleStringLitWithoutMarker", "StrictIdentifier", "Transform", "WindowSpec"),
}
"""Rules whose alternatives are forms of literals, names and types, which run nothing."""


class Grammar:
    """The parsers of Spark and of Iceberg's extension."""

    def __init__(self, spark: SparkSession) -> None:
        self._jvm: Any = spark._jvm

    def alternatives(self) -> Iterator[tuple[str, str]]:
        """Each alternative, and the rule that it belongs to; rules without alternatives, too."""
        for prefix, (jar, parser) in PARSERS.items():
            for name in context_names(jar, parser):
                kind = self._jvm.java.lang.Class.forName(f"{parser}Parser${name}Context")
                above = kind.getSuperclass().getSimpleName()
                yield prefix + name, above.removesuffix("Context") if above != RULE else RULE

    def used_by(self, statement: str, prefix: str) -> set[str]:
        """The alternatives that the parts of a statement are."""
        _, begin = PARSERS[prefix]
        runtime = self._jvm.org.antlr.v4.runtime
        package = getattr(self._jvm, begin.rpartition(".")[0])
        name = begin.rpartition(".")[2]
        text = package.UpperCaseCharStream(runtime.CharStreams.fromString(statement))
        lexer = getattr(package, f"{name}Lexer")(text)
        parser = getattr(package, f"{name}Parser")(runtime.CommonTokenStream(lexer))
        parser.removeErrorListeners()
        tree = parser.singleStatement() if prefix else parser.compoundOrSingleStatement()
        parts = runtime.tree.Trees.getDescendants(tree)
        names = {part.getClass().getSimpleName().removesuffix("Context") for part in parts}
        return {prefix + name for name in names}


def context_names(jar: str, parser: str) -> list[str]:
    """The names of a parser's rules and alternatives."""
    folders = (Path(pyspark.__file__).parent / "jars", jars_dir())
    (path,) = (path for folder in folders for path in folder.glob(f"{jar}[-_]*.jar"))
    begin = parser.replace(".", "/") + "Parser$"
    with zipfile.ZipFile(path) as opened:
        found = [name for name in opened.namelist() if name.startswith(begin)]
    return sorted(
        name.removeprefix(begin).removesuffix("Context.class")
        for name in found
        if name.endswith("Context.class")
    )
