"""Telling people of alerts: what is news, whom to tell, and when to try again. No screen, no rules."""
