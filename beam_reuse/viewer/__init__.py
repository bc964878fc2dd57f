"""`beam-reuse view`: a result in the browser, for this machine's user alone. No Beam."""
