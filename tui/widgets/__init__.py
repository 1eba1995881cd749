"""One panel a file, each fed by the frame and nothing else."""
