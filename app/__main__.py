"""``python -m app`` is ``topoloom``."""

from topoloom.app.cli import main

if __name__ == "__main__":
    main()
