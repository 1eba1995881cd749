"""Values: frozen, validated, free of I/O and clocks. Everything above may import them."""
