"""From normal and attacked buildings to a model directory."""
