"""The Dataflow template, without Dataflow."""
