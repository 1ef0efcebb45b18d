"""The tools of `python -m pyaclnn`: a module each, with add_to(commands) and main(options).

The modules are light; what a tool needs to work is imported when it does.
"""
