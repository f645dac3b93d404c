"""Errors for a person: one sentence, `<where>: <what is wrong>; <what would be right>`."""


class DebeziumError(Exception):
    """What the user can mend, in one sentence or in several arguments.

    The command line prints each sentence in a line of its own, and ends with exit code 2.

    >>> str(DebeziumError("query: is wrong", "b: is wrong"))
    'query: is wrong\\nb: is wrong'
    """

    def __str__(self) -> str:
        return "\n".join(map(str, self.args))


class NothingThereError(DebeziumError):
    """A path in which no dump lies, or not yet."""


class CannotWorkError(DebeziumError):
    """A project, a setting or an option that cannot work, however often it is tried."""


class EnvelopeError(ValueError):
    """A message that cannot be read as a change event. `reason` is its quarantine reason."""

    def __init__(self, reason: str, detail: str) -> None:
        super().__init__(f"{reason}: {detail}")
        self.reason = reason
        self.detail = detail


def is_of_spark(error: Exception) -> bool:
    """Whether Spark or the bridge to its Java raised it; its text is a page of Java.

    >>> is_of_spark(ValueError())
    False
    """
    return type(error).__module__.startswith(("pyspark.", "py4j."))


def innermost(error: Exception) -> str:
    """The message at the bottom of Java's causes, on one line."""
    java = getattr(error, "java_exception", None) or getattr(error, "_origin", None)
    message = str(error)
    while java is not None:
        message = java.getMessage() or message
        java = java.getCause()
    return message.strip().splitlines()[0] if message.strip() else type(error).__name__
