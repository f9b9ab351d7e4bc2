"""The compiled engine: C kernels, their build, memory plan and packed weights."""
