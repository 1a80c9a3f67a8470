"""Names and texts as nobody wants them and some system has them."""

from __future__ import annotations

from hypothesis import strategies as st

HOSTILE = (
    "=1+1",
    '=HYPERLINK("http://x";"y")',
    "+1",
    "-1",
    "@SUM(A1)",
    "a;b",
    "a,b",
    'say "no"',
    "_x0041_",
    "_x005F_x0041_",
    "1.0",
    "007",
    "TRUE",
    "#N/A",
    " lead",
    "trail ",
    "line\nfeed",
    "return\r\n",
    "tab\tin",
    "bell\x07",
    "\x85",
    "\ufffe",
    "\ud800",
    "</script><script>alert(1)</script>",
    "<img src=x onerror=alert(1)>",
    "'\"><b>",
    "&amp;",
    "../../etc/passwd",
    "CON",
    "名前",
    "e\u0301",
    "\u202eabc",
    "😀" * 40,
    "a" * 300,
    "… (whole in “Long texts”, 1)",
    "# not a comment",
    "%41",
)
"""Each of them has broken some program."""

odd_names = st.one_of(
    st.sampled_from(HOSTILE), st.text(st.characters(codec=None, exclude_characters="\0"), min_size=1, max_size=12)
)
"""Texts of one sign or more, lone surrogates among them."""
