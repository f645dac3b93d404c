"""Paths: names as parts of them, and paths as patterns of Hadoop."""

import hashlib
import re
from typing import Final
from urllib.parse import quote

UNSAFE: Final = re.compile(r"[%/\x00-\x1f\x7f-\x9f\ud800-\udfff]|^\.(?=\.?$)")
MOST_BYTES: Final = 200
"""File systems take 255 in a name, and we add an ending."""


def component(name: str) -> str:
    r"""A name as one part of a path; `urllib.parse.unquote` reads it back if it is short.

    >>> component("shop_1.public"), component("../x"), component(".."), component("a\nb")
    ('shop_1.public', '..%2Fx', '%2E.', 'a%0Ab')
    >>> len(component("x" * 1000))
    200
    """
    written = UNSAFE.sub(
        lambda sign: quote(sign[0], safe="", errors="surrogatepass").replace(".", "%2E"), name
    )
    if len(written.encode()) <= MOST_BYTES:
        return written
    mark = "~" + hashlib.sha256(name.encode(errors="surrogatepass")).hexdigest()[:16]
    return written.encode()[: MOST_BYTES - len(mark)].decode(errors="ignore") + mark


def pattern(path: str) -> str:
    """The pattern of Hadoop that fits one path.

    >>> print(pattern("/raw/day=[1]/a.parquet"))
    /raw/day=\\[1\\]/a.parquet
    """
    return "".join(f"\\{one}" if one in "[]{}?*\\" else one for one in path)
