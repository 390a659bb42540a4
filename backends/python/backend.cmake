# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# Peers in Python: worker processes and the memory shared with them. Nothing of Python is linked; `league --python FILE`
# names the interpreter.
league_objects(backend_python UNITY SOURCES backends/python/*.cpp)
