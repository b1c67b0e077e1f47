"""Devices by name, in the words of the program; results on the processor are those of every other test."""

import json

import numpy as np
import pytest
from conftest import SETTINGS

import pymtds


def test_the_processor_is_always_there_and_cards_are_those_of_the_program(run):
    found = pymtds.devices()
    assert (found[0].device, found[0].trouble) == ("cpu", None)
    theirs = json.loads(run("devices", "--json"))
    assert [device.device for device in found if device.memory] == [
        card["device"] for card in theirs["cards"]
    ]
    if theirs["no_cards"] is not None:
        assert found[-1].trouble == theirs["no_cards"]


def test_a_model_is_put_on_a_device_by_name(model, frame, tmp_path):
    again = model.on("cpu")
    assert again.device == "cpu"
    assert np.array_equal(again.forecast(frame, 2).mean, model.forecast(frame, 2).mean)
    model.save(tmp_path / "model")
    assert pymtds.load(tmp_path / "model", device="cpu").device == "cpu"
    # A system that is not layered gains nothing by a card.
    assert model.on("auto").device == "cpu"


def test_what_is_no_device_is_refused_in_the_words_of_the_program(model, frame, tmp_path):
    model.save(tmp_path / "model")
    for ask in (
        lambda device: pymtds.fit(frame, device=device, **SETTINGS),
        model.on,
        lambda device: pymtds.load(tmp_path / "model", device=device),
    ):
        with pytest.raises(pymtds.SettingError, match="found `gpu`, which is no device"):
            ask("gpu")
        # No machine has so many cards.
        with pytest.raises(pymtds.DeviceError, match="cpu"):
            ask("cuda:99")
