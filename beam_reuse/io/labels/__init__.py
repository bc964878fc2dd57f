"""Lists of labels and of stop chunks: read from any format, looked up without loading them."""
