"""``python -m topoloom`` runs the command line."""

from topoloom.app.cli import main

if __name__ == "__main__":
    main()
