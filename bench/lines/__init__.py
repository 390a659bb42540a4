# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Source lines that have machine code: compiles the kernels of builds with line tables and reads those.

Modules: commands (what to compile, and whose it is), tables (what object files tell of lines), kernels (what compilers
made of kernels), measure (one build), show (tables of what was measured), __main__ (the command line). The file that
they write is bench.report.lines'.
"""
