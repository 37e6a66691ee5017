"""Run the command line as ``python -m topoloom``."""

from topoloom.app.cli import main

if __name__ == "__main__":
    main()
