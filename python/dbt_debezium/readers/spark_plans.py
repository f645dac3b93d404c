"""What Spark's plans may be made of if a statement only reads tables, by the names of its classes.

The lists name what is allowed. So what a newer Spark adds is refused until somebody has judged it:
tests/pipeline/test_spark_query.py walks Spark's grammar and its functions.
"""

from typing import Final

SPARK: Final = "org.apache.spark.sql."
LOGICAL: Final = f"{SPARK}catalyst.plans.logical."
ANALYSIS: Final = f"{SPARK}catalyst.analysis."
COMMAND: Final = f"{SPARK}execution.command."
EXPRESSIONS: Final = f"{SPARK}catalyst.expressions."

COMMANDS: Final = frozenset(
    {
        f"{COMMAND}DescribeProcedureCommand",
        f"{COMMAND}DescribeRelationJsonCommand",
        f"{COMMAND}ShowCatalogsCommand",
        f"{COMMAND}ShowCurrentNamespaceCommand",
        f"{COMMAND}ShowNamespacesCommand",
        f"{COMMAND}ShowProceduresCommand",
        f"{LOGICAL}DescribeColumn",
        f"{LOGICAL}DescribeFunction",
        f"{LOGICAL}DescribeNamespace",
        f"{LOGICAL}DescribeRelation",
        f"{LOGICAL}ShowColumns",
        f"{LOGICAL}ShowCreateTable",
        f"{LOGICAL}ShowFunctions",
        f"{LOGICAL}ShowPartitions",
        f"{LOGICAL}ShowTableProperties",
        f"{LOGICAL}ShowTables",
        f"{LOGICAL}ShowTablesExtended",
        f"{LOGICAL}ShowViews",
        f"{LOGICAL}views.ShowIcebergViews",
    }
)
"""Statements that only read the catalog."""
ABOUT_A_QUERY: Final = {
    f"{COMMAND}DescribeQueryCommand": "plan",
    f"{COMMAND}ExplainCommand": "logicalPlan",
}
"""Statements that contain a query and do not run it, and the field that it is in."""
RELATIONS: Final = {
    f"{SPARK}catalyst.catalog.HiveTableRelation": (),
    f"{SPARK}execution.datasources.LogicalRelation": ("catalogTable",),
    f"{SPARK}execution.datasources.v2.DataSourceV2Relation": ("catalog", "identifier"),
}
"""What reads rows, and the fields that only a table of a catalog has. A file has none of them."""
PLANS: Final = RELATIONS.keys() | {
    f"{EXPRESSIONS}PipeOperator",
    f"{ANALYSIS}RelationTimeTravel",
    f"{ANALYSIS}UnresolvedHaving",
    f"{ANALYSIS}UnresolvedInlineTable",
    f"{ANALYSIS}UnresolvedRelation",
    f"{ANALYSIS}UnresolvedSubqueryColumnAliases",
    f"{ANALYSIS}UnresolvedTVFAliases",
    f"{ANALYSIS}UnresolvedTableValuedFunction",
    f"{LOGICAL}Aggregate",
    f"{LOGICAL}CTERelationDef",
    f"{LOGICAL}CTERelationRef",
    f"{LOGICAL}Distinct",
    f"{LOGICAL}Except",
    f"{LOGICAL}Expand",
    f"{LOGICAL}Filter",
    f"{LOGICAL}Generate",
    f"{LOGICAL}GlobalLimit",
    f"{LOGICAL}Intersect",
    f"{LOGICAL}Join",
    f"{LOGICAL}LateralJoin",
    f"{LOGICAL}LocalLimit",
    f"{LOGICAL}LocalRelation",
    f"{LOGICAL}Offset",
    f"{LOGICAL}OneRowRelation",
    f"{LOGICAL}Pivot",
    f"{LOGICAL}Project",
    f"{LOGICAL}Range",
    f"{LOGICAL}RebalancePartitions",
    f"{LOGICAL}Repartition",
    f"{LOGICAL}RepartitionByExpression",
    f"{LOGICAL}ResolvedHint",
    f"{LOGICAL}Sample",
    f"{LOGICAL}Sort",
    f"{LOGICAL}SubqueryAlias",
    f"{LOGICAL}Union",
    f"{LOGICAL}UnionLoop",
    f"{LOGICAL}UnionLoopRef",
    f"{LOGICAL}UnresolvedHint",
    f"{LOGICAL}UnresolvedWith",
    f"{LOGICAL}Unpivot",
    f"{LOGICAL}View",
    f"{LOGICAL}Window",
    f"{LOGICAL}WithCTE",
    f"{LOGICAL}WithWindowDefinition",
}
"""What the plan of a query consists of, before and after Spark has looked up its names."""
FOREIGN: Final = (
    f"{EXPRESSIONS}UserDefinedExpression",
    f"{EXPRESSIONS}UserDefinedGenerator",
    f"{EXPRESSIONS}objects.InvokeLike",
)
"""Kinds of expressions that are functions of users or of a catalog, and run their code."""
FUNCTIONS: Final = frozenset(
    {
        *("java_method", "reflect", "try_reflect"),
        *("from_avro", "from_protobuf", "schema_of_avro", "to_avro", "to_protobuf"),
        "python_worker_logs",
    }
)
"""Functions of Spark that call any method of Java, open files that arguments name, or read logs."""
FUNCTION_CLASSES: Final = {
    f"{EXPRESSIONS}CallMethodViaReflection": "reflect",
    f"{EXPRESSIONS}FromAvro": "from_avro",
    f"{EXPRESSIONS}FromProtobuf": "from_protobuf",
    f"{EXPRESSIONS}SchemaOfAvro": "schema_of_avro",
    f"{EXPRESSIONS}ToAvro": "to_avro",
    f"{EXPRESSIONS}ToProtobuf": "to_protobuf",
    f"{EXPRESSIONS}TryReflect": "try_reflect",
}
"""Their classes, by which they are found in views."""
XML: Final = (f"{EXPRESSIONS}SchemaOfXml", f"{EXPRESSIONS}XmlToStructs")
"""Functions with an option that opens a file, `rowValidationXSDPath`."""
