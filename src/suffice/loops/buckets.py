"""Merges of the buckets of quantile sketches, and the bucket of a number: native/buckets.hpp."""

from .native import loops

merge = loops.buckets.merge
compress = loops.buckets.compress
find_buckets = loops.buckets.find_buckets
