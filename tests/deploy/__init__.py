"""What deploy/ has for clusters in containers."""
