"""From dump files into the table `landing.message`, by way of an inbox."""
