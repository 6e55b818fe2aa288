"""The frozen nouns of the domain; they know no file, clock, process or model."""
