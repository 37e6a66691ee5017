"""The first lines of GOAL, which the writer and the reader share."""

HEAD = "// topoloom {collective} {size}\nnum_ranks {ranks}\n"
"""The first two lines; the comment has what GOAL does not state."""
