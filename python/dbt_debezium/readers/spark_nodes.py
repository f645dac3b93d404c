"""The nodes of a plan of Spark. Java collects them, because a query of five views has thousands."""

from typing import TYPE_CHECKING, Any

from dbt_debezium.readers.spark_plans import LOGICAL
from dbt_debezium.spark.java_methods import as_function, java, method

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


class PlanNodes:
    """All parts of one plan: those of its subqueries and of its WITH, too."""

    def __init__(self, spark: "SparkSession", plan: Any) -> None:
        self._jvm = java(spark)
        self._gateway: Any = spark.sparkContext._gateway
        self.plans: list[Any] = []
        self._expressions = self._buffer()
        collect = self._collector(self._expressions)
        todo = [plan]
        while todo:
            found = self._buffer()
            todo.pop().foreachWithSubqueries(self._collector(found))
            for part in listed(found):
                self.plans.append(part)
                part.expressions().foreach(self._in_each(collect))
                # What WITH defines is none of its children until it has been looked up.
                if class_name(part) == f"{LOGICAL}UnresolvedWith":
                    todo += listed(part.innerChildren())

    def expression_classes(self) -> list[Any]:
        """The classes of all expressions, as Java has them."""
        get_class = method(self._jvm, "java.lang.Object", "getClass", "()Ljava/lang/Class;")
        return listed(self._expressions.map(as_function(self._jvm, get_class)).distinct())

    def expressions_of(self, kind: Any) -> list[Any]:
        """The expressions of a class of Java."""
        is_one = method(self._jvm, "java.lang.Class", "isInstance", "(Ljava/lang/Object;)Z")
        is_of_kind = as_function(self._jvm, is_one.bindTo(kind))
        return listed(self._expressions.filter(is_of_kind))

    def _buffer(self) -> Any:
        return self._jvm.scala.collection.mutable.ArrayBuffer()

    def _collector(self, buffer: Any) -> Any:
        """A function that adds what it is given to a buffer."""
        descriptor = "(Ljava/lang/Object;)Lscala/collection/mutable/ArrayBuffer;"
        add = method(self._jvm, "scala.collection.mutable.ArrayBuffer", "addOne", descriptor)
        return as_function(self._jvm, add.bindTo(buffer))

    def _in_each(self, function: Any) -> Any:
        """A function that calls another one with each node of an expression."""
        tree = "org.apache.spark.sql.catalyst.trees.TreeNode"
        walk = method(self._jvm, tree, "foreach", "(Lscala/Function1;)V")
        given = self._gateway.new_array(self._jvm.java.lang.Object, 1)
        given[0] = function
        handles = self._jvm.java.lang.invoke.MethodHandles
        return as_function(self._jvm, handles.insertArguments(walk, 1, given))


def listed(sequence: Any) -> list[Any]:
    """What a sequence of Scala has."""
    return [sequence.apply(at) for at in range(sequence.size())]


def class_name(node: Any) -> str:
    """The full name of a node's class."""
    return str(node.getClass().getName())
