"""One file an agent CLI: find it, its version, its folders; knows no task and no skill."""
