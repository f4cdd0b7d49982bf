"""Tags that a class declares add to those of its bases, wherever these stand."""

from sklearn.base import ClassifierMixin
from sklearn.utils import get_tags

from suffice.estimator import Estimator, tags


class Takes(Estimator):
    __sklearn_tags__ = tags(sparse=True, allow_nan=True, requires_fit=False)


class Labels(ClassifierMixin, Takes):
    __sklearn_tags__ = tags(allow_nan=False, classifier_tags__multi_class=False, target_tags__required=False)


class ByParameter(Labels):
    def __init__(self, strings=False):
        self.strings = strings

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.string = self.strings
        return tags


def test_of_a_class():
    taken, usual = get_tags(Takes()), get_tags(Estimator())
    assert taken.input_tags.sparse and taken.input_tags.allow_nan and not taken.requires_fit
    assert not usual.input_tags.sparse and not usual.input_tags.allow_nan and usual.requires_fit


def test_beside_those_of_bases():
    of_labels = get_tags(Labels())
    assert of_labels.input_tags.sparse and not of_labels.input_tags.allow_nan
    assert not of_labels.classifier_tags.multi_class
    assert (
        not of_labels.target_tags.required
        and get_tags(type("C", (ClassifierMixin, Takes), {})()).target_tags.required
    )


def test_below_a_method():
    assert [get_tags(ByParameter(strings)).input_tags.string for strings in (True, False)] == [True, False]
    assert get_tags(ByParameter()).input_tags.sparse
