# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Where a command ``python3 -m ...`` of this project looks for modules: in the project, and where it was given, last.

So a file there, as ``random.py``, hides no module of the standard library or of a package.
"""

import os
import sys

if sys.argv[0] == "-m":  # until the command's own module is found
    root = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
    sys.path.sort(key=lambda path: os.path.abspath(path) in (root, os.getcwd()))
