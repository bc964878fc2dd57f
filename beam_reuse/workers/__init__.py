"""What worker processes load and run: all of the graph, beforehand."""
