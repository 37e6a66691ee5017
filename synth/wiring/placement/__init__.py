"""Place nodes of a topology on hosts."""
