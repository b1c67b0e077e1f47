"""An estimator for sktime: a family in `pretrain`, a new short series in `fit`, then `predict` with intervals."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
from sktime.forecasting.base import BaseForecaster

from pymtds._family import Family
from pymtds._fit import fit
from pymtds._model import Model

__all__ = ["MTDSForecaster"]


class MTDSForecaster(BaseForecaster):  # type: ignore[misc]
    """Multi-task dynamical systems: pretrained on a panel, fitted to a member of it by inferring its code.

    Without `pretrain` a model is learned in `fit`, from that series alone.

    Parameters
    ----------
    settings : dict, default=None
        Settings of `pymtds.fit`, such as ``{"code": 2}``; what is left out is chosen from the data.
    seed : int, default=1
        Seed of all randomness.
    threads : int, default=None
        Number of threads; all cores by default.

    Examples
    --------
    >>> from pymtds.sktime import MTDSForecaster
    >>> from sktime.utils._testing.hierarchical import _make_hierarchical
    >>> panel = _make_hierarchical(hierarchy_levels=(6,), min_timepoints=20, max_timepoints=20)
    >>> forecaster = MTDSForecaster(settings={"code": 1, "effort": 0.02}).pretrain(panel)
    >>> member = panel.loc["h0_0"].iloc[:8]
    >>> forecaster = forecaster.fit(member)
    >>> forecaster.predict(fh=[1, 2, 3]).shape
    (3, 1)
    >>> forecaster.predict_interval(fh=[1, 2, 3], coverage=[0.8, 0.95]).shape
    (3, 4)

    """

    _tags = {  # noqa: RUF012
        "authors": ["mtds developers"],
        "object_type": "forecaster",
        "capability:multivariate": True,
        "capability:exogenous": True,
        "capability:insample": False,
        "capability:pred_int": True,
        "capability:pred_int:insample": False,
        "capability:missing_values": True,
        "capability:non_contiguous_X": False,
        "capability:pretrain": True,
        "pretrain:fitted_params": ["model_"],
        "capability:update": False,
        "capability:categorical_in_X": False,
        "y_inner_mtype": "pd.DataFrame",
        "X_inner_mtype": "pd.DataFrame",
        "requires-fh-in-fit": False,
        "X-y-must-have-same-index": True,
    }

    model_: Model

    def __init__(
        self, settings: dict[str, Any] | None = None, seed: int = 1, threads: int | None = None
    ) -> None:
        self.settings = settings
        self.seed = seed
        self.threads = threads
        super().__init__()

    def _learn(self, outputs: list[Any], inputs: list[Any] | None) -> Model:
        family = Family.from_arrays(outputs, inputs)
        return fit(family, seed=self.seed, threads=self.threads, progress=False, **(self.settings or {}))

    def _pretrain(self, y: Any, X: Any = None, fh: Any = None) -> MTDSForecaster:
        """Learn the family: every instance of the panel is a member."""
        levels = list(range(y.index.nlevels - 1))
        self.model_ = self._learn(_members(y, levels), None if X is None else _members(X, levels))
        return self

    def _pretrain_update(self, y: Any, X: Any = None, fh: Any = None) -> MTDSForecaster:
        """Learn anew, from the panel that is given."""
        return self._pretrain(y, X, fh)

    def _fit(self, y: Any, X: Any = None, fh: Any = None) -> MTDSForecaster:
        """Keep what was seen of the series; its code is inferred when it is forecast."""
        if not hasattr(self, "model_"):
            self.model_ = self._learn([y.to_numpy(float)], None if X is None else [X.to_numpy(float)])
        self._seen = (y, X)
        return self

    def _forecast(self, fh: Any, X: Any, levels: list[float]) -> tuple[Any, dict[float, Any]]:
        """Means and quantiles at the steps of the horizon."""
        y, past = self._seen
        steps = fh.to_relative(self.cutoff).to_numpy().astype(int)
        inputs = None
        if self.model_.input_names:
            known = [past] if X is None else [past, X.loc[~X.index.isin(past.index)]]
            inputs = [np.concatenate([part.to_numpy(float) for part in known])]
        family = Family.from_arrays([y.to_numpy(float)], inputs)
        found = self.model_.forecast(
            family,
            int(steps.max()),
            level=(),
            quantiles=levels,
            seed=self.seed,
            threads=self.threads,
            progress=False,
        )
        rows = steps - 1
        return found.mean[0][rows], {level: found.quantile(level)[0][rows] for level in levels}

    def _predict(self, fh: Any, X: Any = None) -> Any:
        mean, _ = self._forecast(fh, X, [])
        return pd.DataFrame(mean, index=fh.to_absolute_index(self.cutoff), columns=self._seen[0].columns)

    def _predict_quantiles(self, fh: Any, X: Any, alpha: list[float]) -> Any:
        _, found = self._forecast(fh, X, list(alpha))
        names = self._get_varnames()
        columns = pd.MultiIndex.from_product([names, alpha])
        values = np.column_stack([found[level][:, c] for c in range(len(names)) for level in alpha])
        return pd.DataFrame(values, index=fh.to_absolute_index(self.cutoff), columns=columns)

    @classmethod
    def get_test_params(cls, parameter_set: str = "default") -> list[dict[str, Any]]:
        """Settings with which the tests of sktime are quick."""
        return [
            {"settings": {"code": 1, "effort": 0.01, "compare": False}},
            {"settings": {"code": 2, "effort": 0.01, "compare": False}, "seed": 3, "threads": 1},
        ]


def _members(panel: Any, levels: list[int]) -> list[Any]:
    """The instances of a panel, in order of appearance."""
    return [part.to_numpy(float) for _, part in panel.groupby(level=levels, sort=False)]
