"""Commands of `topoloom patch`."""
