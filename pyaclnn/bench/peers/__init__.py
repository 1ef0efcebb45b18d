"""One file for each implementation of attention that the benchmark measures.

Every peer runs in a process of its own, under the Python it is installed for. Such a process gets
this folder alone, as the package `peers`: only ours.py, ours_atb.py and limit.py may import
pyaclnn.
"""
