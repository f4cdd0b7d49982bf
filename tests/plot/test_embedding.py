"""Embeddings: points by class or number, and images on a grid."""

from __future__ import annotations

import numpy as np
import pytest

matplotlib = pytest.importorskip("matplotlib")
matplotlib.use("Agg")

import matplotlib.pyplot as plt  # noqa: E402

from suffice.plot import EmbeddingDisplay  # noqa: E402

POINTS = np.random.default_rng(0).normal(size=(80, 3))


@pytest.fixture(autouse=True)
def closed():
    yield
    plt.close("all")


def test_points_by_class_and_by_number():
    labels = np.where(POINTS[:, 0] > 0, "right", "left")
    display = EmbeddingDisplay.from_embedding(POINTS, labels)
    for dots, name in zip(display.points_, ("left", "right"), strict=True):
        np.testing.assert_array_equal(dots.get_offsets(), POINTS[labels == name, :2])
    assert [text.get_text() for text in display.ax_.get_legend().get_texts()] == ["left", "right"]
    (dots,) = EmbeddingDisplay.from_embedding(POINTS, POINTS[:, 2]).points_
    np.testing.assert_array_equal(dots.get_array(), POINTS[:, 2])
    (dots,) = EmbeddingDisplay.from_embedding(POINTS).points_
    assert len(dots.get_offsets()) == 80


def test_images_of_the_nearest_rows():
    """By enumeration of all vertices and rows."""
    images = np.random.default_rng(1).random((80, 4, 5))
    display = EmbeddingDisplay.from_embedding(POINTS, images=images, n_vertices=6)
    low, high = POINTS[:, :2].min(axis=0), POINTS[:, :2].max(axis=0)
    step = (high - low) / 5
    drawn = iter(display.ax_.images)
    for row in range(6):
        for column in range(6):
            apart = (POINTS[:, :2] - low) / step - (column, row)
            best = np.square(apart).sum(axis=1).argmin()
            if np.abs(apart[best]).max() > 0.5:
                assert display.nearest_[row, column] == -1
                continue
            assert display.nearest_[row, column] == best
            image = next(drawn)
            np.testing.assert_array_equal(image.get_array(), images[best])
            left, right, lower, upper = image.get_extent()
            np.testing.assert_allclose(((left + right) / 2, (lower + upper) / 2), low + step * (column, row))
    assert next(drawn, None) is None and (display.nearest_ >= 0).sum() > 10


def test_what_cannot_be_drawn():
    with pytest.raises(ValueError, match="inconsistent numbers of samples"):
        EmbeddingDisplay.from_embedding(POINTS, np.zeros(79))
    with pytest.raises(ValueError, match="1 feature"):
        EmbeddingDisplay.from_embedding(POINTS[:, :1])
