"""The simulated fan-coil unit: building, weather, control, coils, air and sensors."""
