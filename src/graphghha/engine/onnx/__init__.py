"""ONNX export, and a detector that runs an exported model without torch."""
