"""``python -m calibandit``: the command line."""

import sys

from ._command_line import main

if __name__ == "__main__":
    sys.exit(main())
