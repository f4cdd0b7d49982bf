"""Documents as vectors: weights of words. Li ch. 17; Gong and Xu ch. 3."""

import numpy as np
from sklearn.metrics.pairwise import cosine_similarity

from suffice.topics import TermWeighting

from ._canon import example

# Tables 3.3 and 3.4: normalised mutual information in thousandths for K = 2 to 10, and the mean, of sixteen
# methods.
TDT2 = """
866 804 810 760 743 731 696 717 711 760
943 909 893 893 824 834 785 798 805 854
834 754 743 696 663 679 624 662 656 701
817 713 692 679 628 592 594 626 618 662
954 890 846 802 761 756 695 732 736 797
855 778 784 733 702 706 653 681 680 730
973 931 907 866 826 810 771 802 805 855
859 773 789 745 702 703 652 691 682 733
973 934 912 890 830 824 778 799 812 861
500 544 594 581 592 622 587 619 616 584
364 362 429 454 498 540 534 578 603 485
815 811 771 739 713 716 677 680 712 737
779 768 782 755 748 723 739 793 770 762
934 912 963 931 915 904 876 876 902 912
836 836 809 775 763 747 714 727 744 772
953 917 952 930 935 922 913 919 927 930
"""
REUTERS = """
404 402 461 525 561 548 583 597 618 522
438 462 525 554 592 577 594 607 618 552
443 415 488 531 571 542 587 594 611 531
417 381 505 460 485 456 548 484 495 470
484 461 555 592 617 594 640 634 643 580
480 426 498 559 591 552 603 601 623 548
494 500 586 615 637 613 654 659 658 602
480 429 503 563 592 556 613 609 629 553
496 505 595 616 644 615 660 660 665 606
249 205 243 272 302 312 325 330 356 288
258 147 198 209 232 228 253 254 270 228
326 342 384 433 498 482 524 559 559 456
467 453 554 517 518 516 577 574 573 528
485 478 587 586 597 582 633 633 642 580
325 332 369 441 484 469 502 542 548 446
454 472 582 569 579 602 612 627 628 569
"""


@example("li-unsupervised/li-17.f1-tfidf")
def _(given):
    X = np.array(given["X"]).T
    model = TermWeighting(local="relative", collection="idf", norm=None).fit(X)
    return {
        "df": model.statistics_.documents.tolist(),
        "tf_total": X.sum(axis=1).tolist(),
        "tfidf": model.transform(X).T.tolist(),
    }


@example("gong-xu/gx-3.tfidf")
def _(given):
    X = np.array(given["tf_docs_by_terms"])
    model = TermWeighting(local="frequency", collection="idf", norm="l2").fit(X)
    unit = model.transform(X)
    cosine = cosine_similarity(unit)
    plain = {"collection": None, "norm": None}
    # the file gives absent words the half that the formula says if taken to the letter; ours weigh nothing
    augmented = TermWeighting(local="augmented", **plain).fit_transform(X)[0]
    return {
        "idf": model.idf_.tolist(),
        "doc1_unit": unit[0].tolist(),
        "doc2_unit": unit[1].tolist(),
        "doc3_unit": unit[2].tolist(),
        "cos_12": cosine[0, 1],
        "cos_13": cosine[0, 2],
        "cos2_12": cosine[0, 1] ** 2,
        "log_weight_doc1": TermWeighting(local="log", **plain).fit_transform(X)[0].tolist(),
        "augmented_doc1_literal": np.where(X[0] > 0, augmented, 0.5).tolist(),
    }


@example("gong-xu/gx-3.table-averages")
def _(given):
    rows = [np.array(line.split(), int) for table in (TDT2, REUTERS) for line in table.split("\n") if line]
    assert len(rows) == 32
    gap = max(abs(row[:-1].mean() - row[-1]) for row in rows) / 1000.0
    return {
        "row_averages_consistent": gap <= 0.0015,
        "max_rounding_gap": gap,
        "avg_cluster_size_tdt2": 7803 / 56,
        "avg_cluster_size_reuters": 9494 / 51,
    }
