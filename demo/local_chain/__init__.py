"""Real servers on this machine, without Docker: databases, a Kafka broker, Connect with Debezium.

They listen on loopback, on free ports, keep their data in a temporary folder, and end with the
`with` block that started them, or with the process. Linux only. See `../README.md`.
"""

from local_chain.chain import Chain, local_chain

__all__ = ["Chain", "local_chain"]
