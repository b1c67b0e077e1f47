"""Posteriors: what is known of the codes of sequences."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NoReturn

import numpy as np
import numpy.typing as npt

from pymtds._frames import Kind, SameKind

if TYPE_CHECKING:
    from pymtds import _core

__all__ = ["Posterior"]

Array = npt.NDArray[np.float64]


class Posterior:
    """What is known of the codes of the sequences of a family: summary, diagnostics and draws.

    >>> posterior = model.infer(family_frame, seen=10, draws=200)
    >>> posterior
    Posterior(6 sequences, codes of length 1)
    >>> list(posterior.frame.columns)[:4]
    ['series', 'seen', 'z1_mean', 'z1_sd']
    >>> posterior.mean.shape, posterior.sd.shape, posterior.draws.shape
    ((6, 1), (6, 1), (6, 1, 200, 1))
    """

    def __init__(self, core: _core.Posterior, kind: Kind) -> None:
        self._core = core
        self._kind = kind

    @property
    def ids(self) -> list[str]:
        """Ids of the sequences."""
        return self._core.ids

    @property
    def far_outside(self) -> list[str]:
        """Ids of the sequences that are far outside of what the family does: no code explains them."""
        return self._core.far_outside()[0]

    @property
    def frame(self) -> SameKind:
        """A row per sequence: steps seen, mean and deviation of the code, evidence, effective draws, status, misfit."""
        return self._kind.frame(self._core.table())

    @property
    def mean(self) -> Array:
        """Posterior means, sequences × length of the code."""
        return self._core.mean()

    @property
    def sd(self) -> Array:
        """Posterior standard deviations, sequences × length of the code."""
        return self._core.std_dev()

    @property
    def draws(self) -> Array:
        """Draws of equal weight, sequences × chains × draws × length of the code."""
        return np.stack(self._core.draws())

    @property
    def log_weights(self) -> Array:
        """Logarithms of the weights that the draws had before they were resampled, sequences × chains × draws."""
        return np.stack(self._core.log_weights())

    def to_arviz(self) -> Any:
        """Give the draws as ArviZ takes them: a DataTree of ArviZ 1, or InferenceData of earlier versions.

        The variable `z` has the dimensions chain, draw, series and code; `log_weight` among the sample statistics is the logarithm
        of the weight that a draw had before it was resampled.
        """
        from pymtds._arviz import of_posterior

        return of_posterior(self)

    def __reduce__(self) -> NoReturn:
        raise TypeError("a posterior cannot be pickled; send its `frame`, or `draws` and `log_weights`")

    def __len__(self) -> int:
        return len(self._core.ids)

    def __repr__(self) -> str:
        sequences = "sequence" if len(self) == 1 else "sequences"
        return f"Posterior({len(self)} {sequences}, codes of length {self._core.mean().shape[1]})"

    def _repr_html_(self) -> str:
        from pymtds._html import posterior

        return posterior(self)
