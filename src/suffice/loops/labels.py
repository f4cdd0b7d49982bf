"""Known paths of chains, their scores and their counts: native/labels.hpp."""

from .native import loops

observe = loops.labels.observe
