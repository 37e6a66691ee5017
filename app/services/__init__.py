"""One function per use case, called by routes and command line alike."""
