"""What is asked of each family: who learns, who is kept for choosing settings, who is forecast, and from how much.

Settings are chosen among `candidates` on members that take part in nothing else; members that are forecast for the table
enter nothing but the table.
"""

from dataclasses import dataclass


@dataclass(frozen=True)
class Family:
    """A family of sequences and the question about it."""

    #: What it is called on the page.
    title: str
    #: Role of the members in order, again and again: L learn, V choose settings, T are forecast.
    roles: str
    #: Steps after which the rest of a sequence is forecast.
    seen: tuple
    #: Options of `mtds fit` among which validation chooses; the first is what it chooses by itself; `mco` learns a linear system that is sure of its state.
    candidates: tuple

    def members(self, names, roles):
        """Those of `names`, in order of appearance, that have one of `roles`."""
        return [name for k, name in enumerate(names) if self.roles[k % len(self.roles)] in roles]


FAMILIES = {
    "chicks": Family(
        title="growth of chicks",
        roles="TVLTLL",
        seen=(3, 5, 8),
        candidates=("", "--code 2 --state 2", "--learn mco --l2 3", "--learn mco --l2 3 --code 2 --state 2", "--start effects"),
    ),
    "infusion": Family(
        title="drug in the blood",
        roles="TVLTLL",
        seen=(6, 10, 20),
        candidates=("", "--state 3", "--learn mco --l2 8", "--learn mco --l2 8 --state 3"),
    ),
    "handwriting": Family(
        title="handwriting",
        # Each shape is drawn seven times in a row.
        roles="LLLLVTT",
        seen=(3, 5, 10),
        candidates=(
            "",
            "--code 8 --state 8",
            "--learn mco",
            "--learn mco --code 6 --state 6",
            "--learn mco --code 8 --state 8",
            "--base gru --code 6",
        ),
    ),
}
