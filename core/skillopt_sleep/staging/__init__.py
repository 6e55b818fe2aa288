"""Proposals and the only code that changes a live skill: adopt, revert, recover."""
