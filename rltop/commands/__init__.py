"""One module a command. Each imports the screen, or nothing heavier than the pipeline, when it runs."""
