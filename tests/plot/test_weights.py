"""The features with the largest weights, of linear models and of random fields."""

from __future__ import annotations

import numpy as np
import pytest

matplotlib = pytest.importorskip("matplotlib")
matplotlib.use("Agg")

import matplotlib.pyplot as plt  # noqa: E402
import pandas as pd  # noqa: E402
from sklearn.pipeline import make_pipeline  # noqa: E402

from suffice.feature_extraction.text import CountVectorizer  # noqa: E402
from suffice.linear_model import LinearRegression, LogisticRegression  # noqa: E402
from suffice.plot import TopWeightsDisplay  # noqa: E402
from suffice.sequence import ConditionalRandomField  # noqa: E402

from .geometry import boxes, drawn, overlaps  # noqa: E402

RNG = np.random.default_rng(0)


@pytest.fixture(autouse=True)
def closed():
    yield
    plt.close("all")


@pytest.fixture(scope="module")
def long_names():
    names = [f"the_word_before_the_last_in_lower_case={d}" for d in range(30)]
    X = pd.DataFrame((RNG.random((120, 30)) < 0.3).astype(float), columns=names)
    return ConditionalRandomField().fit(X, np.array(["B-ORG", "I-ORG", "O"])[np.arange(120) // 4 % 3])


def test_weights_of_a_random_field(long_names):
    display = drawn(TopWeightsDisplay.from_estimator(long_names, n_features=6))
    assert [part.get_title("left") for part in display.axes_] == ["B-ORG", "I-ORG", "O"]
    for row, bars, part in zip(long_names.coef_, display.bars_, display.axes_, strict=True):
        widths = [bar.get_width() for bar in bars]
        assert widths == [*np.sort(row)[::-1][:3], *np.sort(row)[:3][::-1]]
        largest = part.get_yticklabels()[0].get_text()
        assert len(largest) <= 24 and largest.endswith(f"={row.argmax()}")
        shades = [bar.get_facecolor() for bar in bars]
        assert shades[0] == shades[2] != shades[3] == shades[5]
    labels = [label for part in display.axes_ for label in part.get_yticklabels()]
    assert overlaps(boxes(display, labels)) == 0
    one = TopWeightsDisplay.from_estimator(long_names, classes=["O"], ax=plt.subplots()[1])
    assert len(one.axes_) == 1 and (one.coef[0] == long_names.coef_[2]).all()
    with pytest.raises(ValueError, match=r"No classes are \['B-PER'\]"):
        TopWeightsDisplay.from_estimator(long_names, classes=["B-PER"])


def test_weights_of_a_pipeline_and_of_regression():
    words = ["good fine", "bad poor", "fine good", "poor", "good", "bad"]
    model = make_pipeline(CountVectorizer(), LogisticRegression()).fit(words, [1, 0, 1, 0, 1, 0])
    display = drawn(TopWeightsDisplay.from_estimator(model, n_features=4))
    assert [tick.get_text() for tick in display.axes_[0].get_yticklabels()][:2] == ["good", "fine"]
    assert display.titles == ["1"]  # of two classes, the positive one
    X = RNG.normal(size=(30, 3))
    sparse = LinearRegression().fit(X, X @ [2.0, 0.0, 1.0])
    sparse.coef_ = np.array([2.0, 0.0, 1.0])
    bars = TopWeightsDisplay.from_estimator(sparse, ["a", "b", "c"]).bars_[0]
    assert [bar.get_width() for bar in bars] == [2.0, 1.0]  # no bar of zero
    with pytest.raises(ValueError, match="2 names of features, expected 3"):
        TopWeightsDisplay.from_estimator(sparse, ["a", "b"])
    with pytest.raises(TypeError, match="has no coef_"):
        TopWeightsDisplay.from_estimator(LinearRegression())
