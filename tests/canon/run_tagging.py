"""What tags of words mark together."""

from suffice.sequence import chunks

from ._canon import example


@example("li-supervised/li-1.8.2")
def _(given):
    tags = ["S" if tag == "BE" else tag for tag in given["tags"]]  # a phrase of one word
    words = given["tokens"]
    return {"phrases": [" ".join(words[c.start : c.stop]) for c in chunks(tags, scheme="iobes", strict=True)]}
