"""From bytes to frames: sources, folding, money, projection, alerts, telemetry, replay. Never Textual."""
