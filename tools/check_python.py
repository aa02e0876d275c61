#!/usr/bin/env python3
"""Checks that the Python files named compile, without writing anything."""

import sys

failed = False
for name in sys.argv[1:]:
    try:
        with open(name, encoding="utf-8") as file:
            compile(file.read(), name, "exec")
    except SyntaxError as error:
        print(f"{name}:{error.lineno}: {error.msg}")
        failed = True
sys.exit(1 if failed else 0)
