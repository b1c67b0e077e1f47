"""Posteriors as ArviZ has them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from pymtds._posterior import Posterior


def of_posterior(posterior: Posterior) -> Any:
    """A DataTree (ArviZ 1) or InferenceData (0.x)."""
    import arviz

    draws = np.moveaxis(posterior.draws, 0, 2)
    weights = np.moveaxis(posterior.log_weights, 0, 2)
    groups: dict[str, Any] = {"posterior": {"z": draws}, "sample_stats": {"log_weight": weights}}
    coords = {"series": posterior.ids, "code": [f"z{k + 1}" for k in range(draws.shape[-1])]}
    dims = {"z": ["series", "code"], "log_weight": ["series"]}
    if int(arviz.__version__.split(".")[0]) >= 1:
        return arviz.from_dict(groups, coords=coords, dims=dims)
    return arviz.from_dict(**groups, coords=coords, dims=dims)
