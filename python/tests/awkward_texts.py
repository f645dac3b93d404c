"""Texts of what readers of some language take for more than the character itself."""

import re
from pathlib import Path

from attacks import COLUMNS, COMMENTS, TABLES, UNWRITABLE, commands
from hypothesis import strategies as st

AWKWARD = (
    "\\'\"`{}%#<>&*_[]()|~:;-+=!?@$,./ \n\r\t\0\x07\x1b\x7f\x80\x85\x9b\xa0\xad"
    "\u200b\u200e\u2028\u2029\u202e\u2066\ud7ff\ue000\ufdd0\ufeff\ufffd\ufffe\uffff"
    "\U0001f600\U0001fffe\U0010ffff0aN"
)
PIECES = (
    "{{", "}}", "{%", "%}", "{#", "#}", "\\'", "\\\\", "''", "${env:HOME}", "--", "/*", "*/", "'''",
    "- ", ": ", " #", "```", "***", "__", "~~", "1. ", "# ", "&lt;", "&#60;", "<script>", "\\u0041",
    "\\x41", "\\101", "..", "\x1b[31m", "](javascript:x)", "null", "\r\n", "\\N", "\\%",
)  # fmt: skip
SEEN = (*TABLES, *UNWRITABLE, *COLUMNS, *COMMENTS, *commands(Path("/outside")))
TEXTS = st.lists(
    st.sampled_from(AWKWARD) | st.sampled_from(PIECES) | st.characters(codec="utf-8"), max_size=12
).map("".join) | st.sampled_from([one for one in SEEN if not re.search("[\ud800-\udfff]", one)])
