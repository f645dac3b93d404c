"""A shop before it opens."""

from live_shop.commit_log import CommitLog
from live_shop.trading import Shop, fill, stock_up


def stocked_shop(port: int, sessions: int, pause_seconds: float) -> tuple[Shop, CommitLog]:
    """The shop with its first rows, and the log of its commits.

    Args:
        port: of an empty database.
        sessions: how many trade at once.
        pause_seconds: between two transactions of a session, on average.
    """
    shop, log = Shop(port, sessions, pause_seconds), CommitLog(port)
    with shop.connection() as owner:
        fill(owner)
        log.install()
        stock_up(owner)
    return shop, log
