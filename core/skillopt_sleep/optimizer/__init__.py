"""The SkillOpt loop, one file a stage; it never sees held-out tasks, checks or scores."""
