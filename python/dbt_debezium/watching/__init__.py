"""Watches rounds of `run --every`: a page, metrics for Prometheus, a command for alerts."""
