"""The string kernel by dynamic programming: native/strings.hpp."""

from .native import loops

subsequences = loops.strings.subsequences
own_subsequences = loops.strings.own_subsequences
