"""Every option once: for the command line, config files, help and the manifest."""
