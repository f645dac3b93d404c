"""What is said of a lake: published, held, quarantined and flagged, and what is to be done."""
