"""`python -m thalweg` is the command `thalweg`."""

from thalweg.cli.main import main

if __name__ == "__main__":
    main(prog_name="thalweg")
