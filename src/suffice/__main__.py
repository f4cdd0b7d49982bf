"""Command line: ``python -m suffice warm-up`` compiles the inner loops ahead of the first fit."""

import argparse
import logging

if __name__ == "__main__":
    parser = argparse.ArgumentParser(prog="python -m suffice", description=__doc__)
    parser.add_argument("command", choices=["warm-up"])
    parser.parse_args()
    logging.basicConfig(level=logging.WARNING, format="%(message)s")
    logging.getLogger("suffice").setLevel(logging.INFO)
    from suffice.estimator.warming import warm_up

    warm_up()
