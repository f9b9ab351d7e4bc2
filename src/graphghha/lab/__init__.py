"""The laboratory: labelled runs, training, baselines, evaluation, the paper's protocol and the benchmarks."""
