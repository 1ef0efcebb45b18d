"""Float64 golden models, written from the formulas and not from the kernels."""
