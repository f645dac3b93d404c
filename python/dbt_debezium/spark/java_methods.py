"""Methods of Java as functions that other Java code calls, without Python in between.

A call through py4j costs a millisecond, and Java's threads cannot call Python.
"""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


def java(spark: "SparkSession") -> Any:
    """The packages of the session's Java, by name."""
    return spark._jvm


def method(jvm: Any, owner: str, name: str, descriptor: str) -> Any:
    """A method of a class, as Java's handle of it.

    Args:
        jvm: what `java` returns.
        owner: the full name of the class.
        name: the method's name.
        descriptor: what it takes and returns, as class files write it.
    """
    invoke = jvm.java.lang.invoke
    kind = invoke.MethodType.fromMethodDescriptorString(descriptor, None)
    return invoke.MethodHandles.publicLookup().findVirtual(
        jvm.java.lang.Class.forName(owner), name, kind
    )


def as_function(jvm: Any, handle: Any, interface: str = "scala.Function1") -> Any:
    """A handle as an object with one function.

    Args:
        jvm: what `java` returns.
        handle: what `method` returns, bound to an object.
        interface: the full name of an interface with one method.
    """
    wanted = jvm.java.lang.Class.forName(interface)
    return jvm.java.lang.invoke.MethodHandleProxies.asInterfaceInstance(wanted, handle)
