"""Decision trees: impurity and information gain; CART, ID3 and C4.5, and their pruning."""

import numpy as np

from suffice.tree import (
    DecisionTreeClassifier,
    DecisionTreeRegressor,
    MultiwayTreeClassifier,
    conditional_entropy,
    impurity,
    information_gain,
    information_gain_ratio,
)

from ._canon import EXAMPLES, example
from ._numeric import column


class Table:
    """The rows of a table whose last column is the class."""

    def __init__(self, given, rows=None):
        self.rows = np.array(given["rows"] if rows is None else rows, dtype=object)
        *self.names, self.target = given["columns"]
        self.given = given

    @property
    def X(self):
        return self.rows[:, :-1]

    @property
    def y(self):
        return self.rows[:, -1].astype(str)

    def column(self, name):
        return self.X[:, self.names.index(name)]

    def where(self, name, value):
        return Table(self.given, self.rows[self.column(name) == value])

    def of_each(self, f):
        return {name: f(self.column(name)) for name in self.names}

    @property
    def counts(self):
        return np.unique(self.y, return_counts=True)[1]


def cart(table, **options):
    model = DecisionTreeClassifier(categorical_features=range(len(table.names)), **options)
    return model.fit(table.X, table.y)


def leaf_impurity(model):
    """The impurities of the leaves, times their weights."""
    tree = model.model_
    return (tree.impurity * tree.weight)[tree.is_leaf].sum()


def binary_split(goes_left, y, estimator=DecisionTreeClassifier, **options):
    """A stump whose only split is this one."""
    return estimator(max_depth=1, **options).fit(column(~np.asarray(goes_left)), y)


# Li, ch. 5: measures ---------------------------------------------------------------------------


@example("li-supervised/li-5.1")
def _(given):
    table = Table(given)
    model = cart(table)
    n, share = model.tree_.weighted_n_node_samples[0], model.tree_.value[0, 0]  # of the root
    return {"n": n, "class_counts": dict(zip(model.classes_.tolist(), n * share, strict=True))}


@example("li-supervised/li-5.2")
def _(given):
    table = Table(given)
    gain = table.of_each(lambda x: information_gain(x, table.y))
    return {
        "H_D": float(impurity(table.counts, "entropy")),
        "H_D_given": table.of_each(lambda x: conditional_entropy(x, table.y)),
        "gain": gain,
        "best": max(gain, key=gain.get),
    }


@example("li-supervised/li-5-entropy")
def _(given):
    p = np.array(given["p"], float)
    both = np.stack([p, 1.0 - p], axis=1)
    return {
        "entropy_bits": impurity(both, "entropy"),
        "gini": impurity(both),
        "error": impurity(both, "misclassification"),
    }


# Li, ch. 5: ID3 and C4.5 ------------------------------------------------------------------------


def multiway(table, **options):
    model = MultiwayTreeClassifier(categorical_features=range(len(table.names)), **options)
    return model.fit(table.X, table.y)


def of_branches(model, table, node=0):
    """The tree as the examples write it: a class, or a feature with a child for each category."""
    tree = model.model_
    if tree.is_leaf[node]:
        return str(model.classes_[tree.value[node].argmax()])
    d = tree.feature[node]
    children = {tree.bins.categories[d][b]: of_branches(model, table, c) for b, c in tree.branches_of(node)}
    return {"feature": table.names[d], "children": children}


def class_counts_of_leaves(model, table):
    """For each leaf, the class counts, by the last condition on the way to it."""
    tree, out = model.model_, {}
    for node in np.flatnonzero(~tree.is_leaf).tolist():
        d = tree.feature[node]
        for b, child in tree.branches_of(node):
            if tree.is_leaf[child]:
                name = f"{table.names[d]}_{str(tree.bins.categories[d][b]).lower()}"
                out[name] = dict(zip(model.classes_.tolist(), tree.count[child], strict=True))
    return out


def without_first_feature(model, table):
    """The rows of the branch that is split again, and the features that are left."""
    tree = model.model_
    d = tree.feature[0]
    (value,) = [tree.bins.categories[d][b] for b, child in tree.branches_of(0) if not tree.is_leaf[child]]
    return table.where(table.names[d], value), [name for name in table.names if name != table.names[d]]


@example("li-supervised/li-5.3")
def _(given):
    table = Table(given)
    model = multiway(table, epsilon=given["eps"])
    second, names = without_first_feature(model, table)
    return {
        "H_D2": float(impurity(second.counts, "entropy")),
        "gain_D2": {name: information_gain(second.column(name), second.y) for name in names},
        "tree": of_branches(model, table),
        "leaf_counts": class_counts_of_leaves(model, table),
        "training_errors": int((model.predict(table.X) != table.y).sum()),
    }


@example("li-supervised/li-ex-5.1")
def _(given):
    table = Table(given)
    model = multiway(table, criterion="gain_ratio", epsilon=given["eps"])
    second, names = without_first_feature(model, table)

    def of(table, names):
        own = {name: np.unique(table.column(name), return_counts=True)[1] for name in names}
        ratio = {name: information_gain_ratio(table.column(name), table.y) for name in names}
        return {name: float(impurity(count, "entropy")) for name, count in own.items()}, ratio

    H, ratio = of(table, table.names)
    H_second, ratio_second = of(second, names)
    return {
        "H_A": H,
        "gain_ratio": ratio,
        "best": max(ratio, key=ratio.get),
        "H_A_D2": H_second,
        "gain_ratio_D2": ratio_second,
        "best_D2": max(ratio_second, key=ratio_second.get),
        "tree": of_branches(model, table),
    }


@example("li-supervised/li-5-prune")
def _(given):
    table = Table(given)
    model = multiway(table)
    assert of_branches(model, table) == given["tree"]
    second, _ = without_first_feature(model, table)
    # The subtrees: the whole tree, one split, and the root alone.
    trees = {
        "3 leaves": model,
        "2 leaves": multiway(table, max_depth=1),
        "1 leaf": multiway(table, epsilon=1),
    }
    alone = trees["1 leaf"]
    return {
        "C_T": model.cost(),
        "N_H_root": alone.cost(),
        "N_H_D2": multiway(second, epsilon=1).cost(),
        "alpha_root_switch": (alone.cost() - model.cost()) / (model.get_n_leaves() - 1),
        "loss": {alpha: {name: t.cost(alpha) for name, t in trees.items()} for alpha in given["alphas"]},
        "best_leaves": {alpha: model.prune(alpha).get_n_leaves() for alpha in given["alphas"]},
    }


# Li, ch. 5: CART -------------------------------------------------------------------------------


def gini_of_splits(table, names):
    """For each feature and category, the Gini index after the split into the category and the rest."""

    def of(name, value):
        return leaf_impurity(binary_split(table.column(name) == value, table.y)) / len(table.y)

    return {name: {str(v): of(name, v) for v in dict.fromkeys(table.column(name))} for name in names}


def root_split(model, table):
    """The feature of the first split, and the category on its right side."""
    tree = model.model_
    d, start = tree.feature[0], tree.set_start[0]
    kinds = tree.bins.categories[d]
    (right,) = kinds[~tree.goes_left[start : start + len(kinds)]]
    return [table.names[d], right]


def as_nested(model, table, node=0):
    """The tree as the examples write it: a class, or a feature with a child for each category."""
    tree = model.model_
    if tree.is_leaf[node]:
        return str(model.classes_[tree.value[node].argmax()])
    d, start = tree.feature[node], tree.set_start[node]
    kinds = tree.bins.categories[d]
    sides = np.where(tree.goes_left[start : start + len(kinds)], *tree.children[node])
    children = {kind: as_nested(model, table, side) for kind, side in zip(kinds, sides, strict=True)}
    return {"feature": table.names[d], "children": children}


@example("li-supervised/li-5.4")
def _(given):
    table = Table(given)
    model = cart(table)
    best = root_split(model, table)
    second = table.where(best[0], False)
    others = [name for name in table.names if name != best[0]]
    return {
        "gini_D": model.model_.impurity[0],
        "gini_split": gini_of_splits(table, table.names),
        "best": best,
        "gini_split_D2": gini_of_splits(second, others),
        "best_D2": root_split(cart(second), second),
        "tree": as_nested(model, table) == EXAMPLES["li-supervised/li-5.3"]["expect"]["tree"],
    }


def regions(model, x, node=0):
    """A regression tree of one feature as the examples write it."""
    tree = model.model_
    inside = x[np.flatnonzero(model.decision_path(column(x)).toarray()[:, node])]
    sse = tree.impurity * tree.weight
    out = {"x_from": inside.min(), "x_to": inside.max(), "mean": tree.value[node, 0], "sse": sse[node]}
    if not tree.is_leaf[node]:
        left, right = tree.children[node]
        out |= {"split": tree.threshold[node], "split_sse": sse[left] + sse[right]}
        out |= {"left": regions(model, x, left), "right": regions(model, x, right)}
    return out


@example("li-supervised/li-ex-5.2")
def _(given):
    x, y = np.array(given["x"], float), np.array(given["y"])
    splits = [leaf_impurity(binary_split(x <= s, y, DecisionTreeRegressor)) for s in x[:-1] + 0.5]
    return {
        "root_sse_by_split": dict(zip(x[:-1] + 0.5, splits, strict=True)),
        "tree": regions(DecisionTreeRegressor().fit(column(x), y), x),
    }


@example("li-supervised/li-5-cart-prune")
def _(given):
    X, y = column(given["x"]), np.array(given["y"])
    sequence = []
    path = DecisionTreeRegressor().cost_complexity_pruning_path(X, y)
    for k, alpha in enumerate(path.ccp_alphas):
        model = DecisionTreeRegressor(ccp_alpha=alpha).fit(X, y)
        sequence.append(
            {
                "k": k,
                "alpha": len(y) * alpha,
                "leaves": model.get_n_leaves(),
                "sse": len(y) * path.impurities[k],
                "splits": np.sort(model.model_.threshold[~model.model_.is_leaf]),
            }
        )
        assert np.isclose(leaf_impurity(model), sequence[-1]["sse"])
    return {"sequence": sequence}


@example("li-supervised/li-5-cart-prune-class")
def _(given):
    table = Table(given)
    model = cart(table)
    tree, second = model.model_, table.where("Own_house", False)
    path, below = (cart(t).cost_complexity_pruning_path(t.X, t.y) for t in (table, second))
    (node,) = np.flatnonzero((tree.weight == len(second.y)) & ~tree.is_leaf)
    share = len(second.y) / len(table.y)
    first = cart(table, ccp_alpha=path.ccp_alphas[1])
    return {
        "C_root": tree.impurity[0],
        "C_D2": tree.impurity[node] * share,
        "g_root": (path.impurities[-1] - path.impurities[0]) / (model.get_n_leaves() - 1),
        "g_D2": below.ccp_alphas[1] * share,
        "alpha_1": path.ccp_alphas[1],
        "T_1": first.get_n_leaves() == 1 and set(first.predict(table.X)) == {"Yes"},
    }


# STATS601 --------------------------------------------------------------------------------------


@example("stats601-and-slides/impurity-binary-table")
def _(given):
    p = np.array(given["p"])
    both = np.stack([p, 1.0 - p], axis=1)
    nats = impurity(both, "entropy") * np.log(2.0)
    return {
        "misclassification": impurity(both, "misclassification"),
        "gini": impurity(both),
        "entropy_nat": nats,
        "entropy_scaled_by_1_over_2log2_at_0.5": nats[p == 0.5][0] / (2.0 * np.log(2.0)),
    }


@example("stats601-and-slides/split-criterion-sensitivity")
def _(given):
    splits = {name: np.array(given[f"split_{name}"]) for name in ("A", "B")}
    y, units = [0, 1], {"misclassification": 1.0, "gini": 1.0, "entropy": np.log(2.0)}

    def value(counts, criterion):
        """A stump on rows with these counts of two classes in two leaves."""
        X, weight = [[0], [0], [1], [1]], counts.ravel()
        model = DecisionTreeClassifier(criterion=criterion, max_depth=1).fit(X, y * 2, weight)
        return leaf_impurity(model) * units[criterion]

    return {c: {name: value(counts, c) for name, counts in splits.items()} for c in units}


@example("stats601-and-slides/cart-regression-split")
def _(given):
    x, y = np.array(given["x"]), np.array(given["y"])
    model = DecisionTreeRegressor(max_depth=1).fit(column(x), y)
    threshold = model.model_.threshold[0]
    return {
        "sse_by_split_after_1_to_5": [
            leaf_impurity(binary_split(x <= s, y, DecisionTreeRegressor)) for s in x[:-1]
        ],
        "best_split_between": [x[x <= threshold].max(), x[x > threshold].min()],
        "region_means": model.model_.value[model.model_.is_leaf, 0],
    }


@example("stats601-and-slides/cost-complexity-weakest-link")
def _(given):
    loss = given["leaf_losses"]
    # Pairs of rows in three leaves, whose squared errors and those of their unions are the losses: those of
    # two groups add up, and n m / (n + m) times the squared distance of their means.
    within = np.array([*loss["left_children"], loss["right"]], float)
    apart = np.sqrt(loss["left"] - within[:2].sum())
    mean = np.array([apart / 2, -apart / 2, np.sqrt((loss["root"] - loss["left"] - loss["right"]) * 6 / 8)])
    y = np.concatenate([mean - np.sqrt(within / 2), mean + np.sqrt(within / 2)])
    X = column([0, 1, 2] * 2)
    tree = DecisionTreeRegressor().fit(X, y).model_
    np.testing.assert_allclose(
        tree.impurity * tree.weight, [loss["root"], loss["left"], *loss["left_children"], loss["right"]]
    )
    alphas = DecisionTreeRegressor().cost_complexity_pruning_path(X, y).ccp_alphas
    leaves = [DecisionTreeRegressor(ccp_alpha=a).fit(X, y).get_n_leaves() for a in alphas]
    return {
        "alpha_at_which_root_only_wins": len(y) * alphas[leaves.index(1)],
        "alpha_at_which_left_collapses": len(y) * alphas[leaves.index(2)],
        "sequence": leaves,
    }


@example("stats601-and-slides/importance-sums")
def _(_given):
    rng = np.random.default_rng(0)
    X = np.column_stack([rng.normal(size=(80, 3)), np.zeros(80)])
    holds = []
    for model, y in (
        (DecisionTreeRegressor(max_depth=4), X[:, 0] * X[:, 1]),
        (DecisionTreeClassifier(max_depth=4), X[:, 0] > X[:, 2]),
    ):
        tree = model.fit(X, y).model_
        loss = tree.impurity * tree.weight
        raw = np.zeros(4)
        for node in np.flatnonzero(~tree.is_leaf):
            raw[tree.feature[node]] += loss[node] - loss[tree.children[node]].sum()
        total = loss[0] - leaf_impurity(model)
        holds.append(np.allclose(raw.sum(), total) and np.allclose(model.feature_importances_, raw / total))
        holds.append(model.feature_importances_[3] == 0.0)
    return all(holds)
