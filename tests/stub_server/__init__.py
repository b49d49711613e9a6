"""An OpenAI-compatible server that misbehaves on order. In tests: `with running_stub(...) as stub`; by hand:

python -m tests.stub_server --port 8099 --latency 0.2 --do 'r1=429:1*2,ok' --do 'r2=500' --per-second 5
"""

from tests.stub_server.behaviours import Step, parse_plan
from tests.stub_server.server import Stub, running_stub

__all__ = ["Step", "Stub", "parse_plan", "running_stub"]
