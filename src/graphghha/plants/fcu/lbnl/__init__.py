"""The public LBNL fan-coil data set: reading, importing, writing, and calibration against it."""
