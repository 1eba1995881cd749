"""How GPUs are laid out, from one to a thousand. Pure: samples in, lines of inked spans out."""
