"""Plugin point 5: installers plan changes to a harness's files; they write nothing."""
