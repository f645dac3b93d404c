"""The page that `run` writes after each round."""

from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

from dbt_debezium.lake_status import LakeStatus
from dbt_debezium.page import page_of
from dbt_debezium.page.ages import shown_time
from dbt_debezium.page.file import write
from dbt_debezium.page.rounds import RoundsHealth


class KeptPage:
    """Keeps a page as the lake is, and ends no round: what fails is a sentence.

    The lake is looked at after a round that may have changed it. After the others, what is known
    of it is written again, with its age and with how the rounds are.
    """

    def __init__(
        self,
        file: Path,
        lake: str,
        look: Callable[[], LakeStatus],
        health: Callable[[], RoundsHealth | None],
        sentence: Callable[[Exception], str],
    ) -> None:
        """Know what makes a page.

        Args:
            file: where the page is.
            lake: what the lake is called.
            look: looks at the lake, which takes seconds.
            health: how the rounds are.
            sentence: what is to be said of an error.
        """
        self._file, self._lake = file, lake
        self._look, self._health, self._sentence = look, health, sentence
        self._found: LakeStatus | None = None
        self._found_at: datetime | None = None
        self._is_current = False
        self._unseen: str | None = None
        """Why the lake could not be looked at."""
        self._said: str | None = None

    def write(self, *, may_have_changed: bool = True) -> str | None:
        """Look at the lake if it may have changed, and write the page.

        Returns:
            Why there is no page, or only an older lake on it; None if that was said before.
        """
        self._is_current = self._is_current and not may_have_changed
        if not self._is_current:
            self._look_again()
        return self.show()

    def show(self) -> str | None:
        """Write what is known of the lake, as `write` without a look."""
        problem = self._unseen
        if self._found:
            notices = [*self._found.notices, *([problem] if problem else [])]
            found = replace(self._found, notices=notices)
            try:
                _, text = page_of(found, self._health(), self._lake, datetime.now(UTC))
                write(self._file, text)
            except Exception as error:
                problem = self._sentence(error)
        is_new, self._said = problem != self._said, problem
        return problem if is_new else None

    def _look_again(self) -> None:
        try:
            self._found = self._look()
        except Exception as error:
            state = f"{self._file} is not written"
            if self._found_at:
                state = f"{self._file} shows the lake of {shown_time(self._found_at)}"
            self._unseen = f"report: {state}: {self._sentence(error)}"
        else:
            self._found_at, self._is_current, self._unseen = datetime.now(UTC), True, None
