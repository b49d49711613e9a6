"""A bench for LLM judges of voice agents: what did a prompt change do, and how sure are we?"""

__version__ = "0.1.0"
