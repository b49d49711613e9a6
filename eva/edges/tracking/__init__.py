"""MLflow as the team's page: `log_run` sends a run folder, and everything else in here serves it.

MLflow is imported in `client.py` only, when a store is first opened.
"""

from eva.edges.tracking.log import log_run
from eva.edges.tracking.prepare import import_in_background, prepare_store
from eva.edges.tracking.spec import Links, LoggedRun, TrackingSpec

__all__ = ["Links", "LoggedRun", "TrackingSpec", "import_in_background", "log_run", "prepare_store"]
