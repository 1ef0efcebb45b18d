"""python -m pyaclnn bench: attention against the machine's limits and other implementations.

    shapes.py    what is measured, by set
    peers/       who is measured, a file each; every one runs in a process of its own
    measure.py   starts the processes and goes round by round
    result.py    what came out, and ratios, classes and summaries of it: pure functions
    show.py      tables for the terminal and for documents
    plot.py      the roofline
    command.py   the options

docs/performance.md describes the method.
"""
