"""Boosting: AdaBoost with its bounds, forward stagewise fits of exponential loss, and boosting trees."""

import numpy as np
from scipy.optimize import linprog
from sklearn.base import BaseEstimator, ClassifierMixin

from suffice.ensemble import (
    AdaBoostClassifier,
    ForwardStagewiseClassifier,
    ForwardStagewiseRegressor,
    GradientBoostingClassifier,
    GradientBoostingRegressor,
    boosting_effects,
)
from suffice.losses import loss_of
from suffice.statistics.margin_loss import best_score
from suffice.tree import DecisionTreeClassifier, DecisionTreeRegressor

from ._canon import example, given
from ._numeric import column
from .run_tree import binary_split, leaf_impurity

# The stump with the least weighted error, of all thresholds and signs, and of the two constants.
STUMP = DecisionTreeClassifier(max_depth=1, criterion="misclassification")


class SignedStump(ClassifierMixin, BaseEstimator):
    """The stump with the least weighted error whose sides have different classes. Of equal ones, the first
    feature, the lowest threshold and the class 1 on the left win."""

    def fit(self, X, y, sample_weight):
        X, y = np.asarray(X), np.asarray(y)
        self.classes_ = np.unique(y)
        found = []
        for d, x in enumerate(X.T):
            values = np.unique(x)
            for t in (values[:-1] + values[1:]) / 2.0:
                for sign in (1, -1):
                    wrong = np.where(x <= t, sign, -sign) != y
                    found.append((round(sample_weight[wrong].sum(), 12), d, t, -sign))
        _, d, t, sign = min(found)
        self.split_ = d, t, -sign
        return self

    def predict(self, X):
        d, t, sign = self.split_
        return np.where(np.asarray(X)[:, d] <= t, sign, -sign).astype(self.classes_.dtype)


def boosted(X, y, rounds, stump=STUMP):
    return AdaBoostClassifier(stump, n_estimators=rounds).fit(X, y)


def alphas(model):
    """The coefficients of Li, which are half of those of SAMME."""
    return model.estimator_weights_ / 2.0


def weights_by_round(model, X, y):
    """The normalized weights of the rows after each round."""
    w = np.full(len(y), 1.0 / len(y))
    for tree, alpha in zip(model.estimators_, alphas(model), strict=True):
        w = w * np.exp(-alpha * np.where(tree.predict(X) == y, 1.0, -1.0))
        w /= w.sum()
        yield w


def stump_of(model, m):
    """Feature, threshold and the classes below and above it of the stump of a round."""
    tree = model.estimators_[m].model_
    label = model.classes_[tree.value.argmax(axis=1)]
    if len(tree.feature) == 1:
        return None, None, label[0], label[0]
    return tree.feature[0], tree.threshold[0], label[1], label[2]


def errors_by_round(model, X, y):
    return [int((predicted != y).sum()) for predicted in model.staged_predict(X)]


@example("li-supervised/li-8.1")
def _(given):
    X, y = column(given["x"]), np.array(given["y"])
    model = boosted(X, y, given["M"])
    Z = model.training_error_bound_ / np.append(1.0, model.training_error_bound_[:-1])
    rounds, errors = [], errors_by_round(model, X, y)
    for m, w in enumerate(weights_by_round(model, X, y)):
        _, threshold, below, above = stump_of(model, m)
        rounds.append(
            {
                "m": m + 1,
                "threshold": threshold,
                "value_below": below,
                "value_above": above,
                "e": model.estimator_errors_[m],
                "alpha": alphas(model)[m],
                "Z": Z[m],
                "D_next": w,
                "training_errors": errors[m],
            }
        )
    score = model.decision_function(X) / 2.0 * alphas(model).sum()
    return {"rounds": rounds, "f": score, "final_training_errors": errors[-1]}


@example("li-supervised/li-8.1-bound")
def _(given_):
    data = given("li-supervised/li-8.1")
    X, y = column(data["x"]), np.array(data["y"])
    model = boosted(X, y, data["M"])
    e = model.estimator_errors_
    np.testing.assert_allclose(e, given_["e"], atol=1e-12)
    gamma = 0.5 - e
    bound = model.training_error_bound_
    stagewise = ForwardStagewiseClassifier(STUMP, n_estimators=data["M"]).fit(X, y)
    return {
        "Z": bound / np.append(1.0, bound[:-1]),
        "prod_Z": bound[-1],
        "mean_exp_loss": stagewise.train_score_[-1],
        "training_error": 1.0 - model.score(X, y),
        "exp_bound": np.exp(-2.0 * (gamma**2).sum()),
        "corollary_bound": np.exp(-2.0 * len(e) * gamma.min() ** 2),
    }


@example("li-supervised/li-ex-8.1")
def _(given):
    X, y = np.array(given["X"], float), np.array(given["y"])
    model, rounds = boosted(X, y, 6), []
    errors = errors_by_round(model, X, y)
    for m in range(6):
        feature, threshold, below, above = stump_of(model, m)
        of = {"m": m + 1, "e": model.estimator_errors_[m], "alpha": alphas(model)[m]}
        of["training_errors"] = errors[m]
        if below == above:
            of["constant"] = below
        else:
            of |= {"feature": given["columns"][feature], "threshold": threshold}
            of |= {"below": below, "above": above}
        rounds.append(of)
    return {
        "rounds": rounds,
        "f": model.decision_function(X) / 2.0 * alphas(model).sum(),
        "final_training_errors": errors[-1],
        "prod_Z": model.training_error_bound_[-1],
        "without_constant_stumps": _without_constants(X, y, given["columns"]),
    }


def _without_constants(X, y, names):
    """The same with stumps whose leaves differ."""
    model = AdaBoostClassifier(SignedStump(), n_estimators=200).fit(X, y)
    first = model.estimators_[0]
    d, t, sign = first.split_
    stumps = [np.where(X[:, d] <= t, 1, -1) for d in range(3) for t in np.unique(X[:, d])[:-1] + 0.5]
    votes = np.stack(stumps, axis=1)  # a weight may be negative
    found = linprog(np.zeros(votes.shape[1]), -y[:, None] * votes, -np.ones(len(y)), bounds=(None, None))
    return {
        "first_stump": {
            "feature": names[d],
            "threshold": t,
            "below": sign,
            "above": -sign,
            "e": model.estimator_errors_[0],
        },
        "best_training_errors_seen": min(errors_by_round(model, X, y)),
        "separable_by_any_weights": found.status == 0,
    }


@example("li-supervised/li-8.2")
def _(given):
    X, y = column(given["x"]), np.array(given["y"])
    x = X[:, 0]
    model = ForwardStagewiseRegressor(n_estimators=given["M"]).fit(X, y)
    stages, steps = list(model.staged_predict(X)), []
    for m, learner in enumerate(model.estimators_):
        tree, beta = learner.model_, model.estimator_weights_[m]
        _, left, right = beta * tree.value[:, 0]
        loss = len(y) * model.train_score_[m]
        steps.append({"m": m + 1, "split": tree.threshold[0], "left": left, "right": right, "loss": loss})
    inside = {
        "below_3_5": 1,
        "from_3_5_to_6_5": 5,
        "above_6_5": 8,
        "below_2_5": 1,
        "from_2_5_to_3_5": 3,
        "from_3_5_to_4_5": 4,
        "from_4_5_to_6_5": 5,
    }

    def of(stage, *names):
        return {name: stages[stage - 1][x == inside[name]][0] for name in names}

    first = binary_split(x <= 1.5, y, DecisionTreeRegressor).model_.value[:, 0]
    return {
        "m_of_s": [
            leaf_impurity(binary_split(x <= s, y, DecisionTreeRegressor)) for s in given["cut_points"]
        ],
        "split_at_1_5": {"c1": first[1], "c2": first[2]},
        "residual_2": y - stages[0],
        "steps": steps,
        "f2": of(2, "below_3_5", "from_3_5_to_6_5", "above_6_5"),
        "f6": of(6, "below_2_5", "from_2_5_to_3_5", "from_3_5_to_4_5", "from_4_5_to_6_5", "above_6_5"),
    }


@example("li-supervised/li-8.2-gb")
def _(given):
    X, y = column(given["x"]), np.array(given["y"])

    def steps(loss, n_stages):
        model = GradientBoostingRegressor(loss=loss, n_estimators=n_stages, max_depth=1, learning_rate=1.0)
        model.fit(X, y)
        losses = len(y) * model.losses_[:, 0] * (2.0 if loss == "squared_error" else 1.0)
        out = [{"m": 0, "constant": model.model_.baseline[0], "loss": losses[0]}]
        for m, tree in enumerate(model.model_.forest, start=1):
            _, left, right = tree.value[:, 0]
            out.append({"m": m, "split": tree.threshold[0], "left": left, "right": right, "loss": losses[m]})
        return out, [np.full(len(y), model.model_.baseline[0]), *model.staged_predict(X)]

    squared, _ = steps("squared_error", 3)
    absolute, stages = steps("absolute_error", 2)
    for step, f in zip(absolute[1:], stages[:-1], strict=True):
        step["negative_gradient"] = np.sign(np.round(y - f, 12))
    return {"squared_loss": squared, "absolute_loss": absolute}


# STATS601 --------------------------------------------------------------------------------------


@example("stats601-and-slides/adaboost-small")
def _(given):
    X, y = column(given["x"]), np.array(given["y"])
    model = boosted(X, y, given["rounds"], SignedStump())
    stagewise = ForwardStagewiseClassifier(SignedStump(), n_estimators=given["rounds"]).fit(X, y)
    rounds = []
    for m, w in enumerate(weights_by_round(model, X, y)):
        _, threshold, sign = model.estimators_[m].split_
        rounds.append(
            {
                "threshold": threshold,
                "sign_left": sign,
                "err": model.estimator_errors_[m],
                "alpha_adaboost1": model.estimator_weights_[m],
                "alpha_adaboost2": stagewise.estimator_weights_[m],
                "normalised_weights": w,
            }
        )
    return {
        "rounds": rounds,
        "F_adaboost1": model.decision_function(X) / 2.0 * model.estimator_weights_.sum(),
        "exp_loss_adaboost2": len(y) * stagewise.train_score_[-1],
        "training_errors": int((model.predict(X) != y).sum()),
    }


@example("stats601-and-slides/adaboost-exponential-minimiser")
def _(given):
    p = given["P(Y=1|x)"]
    X, y, weight = [[0.0], [0.0]], [0, 1], [1.0 - p, p]
    model = ForwardStagewiseClassifier(n_estimators=1).fit(X, y, weight)
    assert np.isclose(model.predict_proba(X)[0, 1], p)
    score = {kind: float(best_score(p, kind)) for kind in ("exponential", "logistic")}
    assert np.isclose(model.decision_function(X)[0], score["exponential"])
    return score


@example("stats601-and-slides/adaboost-exponential-product")
def _(given_):
    data = given("stats601-and-slides/adaboost-small")
    X, y = column(data["x"]), np.array(data["y"])
    model = ForwardStagewiseClassifier(SignedStump(), n_estimators=data["rounds"]).fit(X, y)
    loss = model.train_score_
    errors = boosted(X, y, data["rounds"], SignedStump()).estimator_errors_
    np.testing.assert_allclose(errors, given_["err"], atol=1e-8)
    return {"factor_per_round": loss / np.append(1.0, loss[:-1]), "mean_exp_loss_after_3": loss[-1]}


@example("stats601-and-slides/additive-logistic-probability")
def _(given):
    F, answers = given["F"], {}
    for loss, name, factor in (("exponential", "exponential", 2.0), ("logistic", "deviance", 1.0)):
        odds = np.exp(factor * F)  # of the second class, for which the score of a constant is F
        model = ForwardStagewiseClassifier(loss=loss, n_estimators=1).fit([[0.0], [0.0]], [0, 1], [1.0, odds])
        np.testing.assert_allclose(model.decision_function([[0.0]]), F, rtol=1e-9)
        answers[f"{name}_fit_probability_for_F={F}"] = model.predict_proba([[0.0]])[0, 1]
    return answers


@example("stats601-and-slides/gradient-boosting-stump-additivity")
def _(given):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(200, 3))
    y = X[:, 0] * X[:, 1] + X[:, 2]
    model = ForwardStagewiseRegressor(n_estimators=60).fit(X, y)
    a, b = rng.normal(size=(2, 500, 3))
    mixed = np.zeros(500)
    for first, second, sign in ((a, a, 1), (a, b, -1), (b, a, -1), (b, b, 1)):
        mixed += sign * model.predict(np.column_stack([first[:, 0], second[:, 1], a[:, 2]]))
    found = boosting_effects(model, order=1)
    total = found.intercept + sum(effect(a) for effect in found.effects.values())
    return bool(np.abs(mixed).max() < 1e-10 and np.abs(total - model.predict(a)).max() < 1e-10)


@example("stats601-and-slides/gradient-boosting-gradients")
def _(given):
    y, f = np.array(given["y_binary"]), np.array(given["f_multiclass"])
    X = np.zeros((len(y), 1))

    def start(model):
        return model.set_params(n_estimators=1).fit(X, y).model_.baseline[0]

    gradient, _ = loss_of("log_loss", class_weight=np.ones(3)).derivatives(np.array([1]), f[None])
    return {
        "init_constant": {
            "binary_logistic(y in {-1,1}, log(1+e^{-yf}))": start(GradientBoostingClassifier()),
            "exponential": start(GradientBoostingClassifier(loss="exponential")),
            "squared": start(GradientBoostingRegressor()),
        },
        "multinomial_negative_gradient_for_y=2": -gradient[0],
        "gradient_sum_over_classes": gradient.sum(),
    }


def newton_leaf(p, y):
    """The value of a leaf of all rows for the first class, in the first stage after the probabilities p."""

    class Start(ClassifierMixin, BaseEstimator):
        def fit(self, X, y):
            self.classes_ = np.unique(y)
            return self

        def predict_proba(self, X):
            return p[np.asarray(X)[:, 0].astype(int)]

    model = GradientBoostingClassifier(
        n_estimators=1, learning_rate=1.0, init=Start(), min_impurity_decrease=1e3
    )
    tree = model.fit(column(np.arange(len(y))), y).estimators_[0, 0].model_
    return tree.value[0, 0]


@example("stats601-and-slides/gradient-boosting-leaf-values")
def _(given):
    y = np.array(given["leaf_labels_with_f=0"])
    X = np.zeros((len(y), 1))
    newton = GradientBoostingClassifier(n_estimators=1, learning_rate=1.0, init="zero").fit(X, y)
    rng = np.random.default_rng(0)
    p, labels = rng.dirichlet(np.ones(4), size=30), rng.integers(4, size=30)
    g = (labels == 0) - p[:, 0]
    formula = 3 / 4 * g.sum() / (np.abs(g) * (1.0 - np.abs(g))).sum()
    return {
        "exponential_leaf": GradientBoostingClassifier(loss="exponential").fit(X, y).model_.baseline[0],
        "newton_logistic_leaf_from_f0": newton.decision_function(X)[0],
        "multinomial_newton_formula": bool(abs(newton_leaf(p, labels) - formula) < 1e-9),
    }


@example("stats601-and-slides/gradient-boosting-multiclass-leaf")
def _(given):
    g, others = np.array(given["g_in_leaf_for_class_k"]), given["K"] - 1
    first = np.where(g > 0, 1.0 - g, -g)  # the probability of class k: g = 1(y = k) - p
    p = np.column_stack([first, np.tile((1.0 - first)[:, None] / others, others)])
    y = np.where(g > 0, 0, np.cumsum(g < 0))
    return {"newton_leaf": newton_leaf(p, y)}


@example("stats601-and-slides/gradient-boosting-exponential-is-adaboost")
def _(_given):
    rng = np.random.default_rng(1)
    X = rng.normal(size=(120, 3))
    y = np.where(X[:, 0] * X[:, 1] + 0.5 * X[:, 2] > 0.0, 1, -1)
    model = boosted(X, y, 12)
    stagewise = ForwardStagewiseClassifier(STUMP, n_estimators=12).fit(X, y)
    score = model.decision_function(X) / 2.0 * alphas(model).sum()
    free = GradientBoostingClassifier(loss="exponential", n_estimators=12, max_depth=1).fit(X, y)
    assert np.abs(free.decision_function(X) - score).max() > 0.1  # leaves with values of their own
    return bool(
        np.abs(stagewise.estimator_weights_ - alphas(model)).max() < 1e-8
        and np.abs(stagewise.decision_function(X) - score).max() < 1e-8
    )


@example("stats601-and-slides/stochastic-boosting-full-fraction")
def _(_given):
    rng = np.random.default_rng(2)
    X = rng.normal(size=(200, 3))
    y = X[:, 0] * X[:, 1] + X[:, 2]

    def scores(**parameters):
        model = GradientBoostingRegressor(n_estimators=15, **parameters).fit(X, y)
        return np.append(model.predict(X), model.train_score_)

    full, half = scores(), scores(subsample=0.5, random_state=3)
    return bool(
        (scores(subsample=1.0, random_state=3) == full).all()
        and (scores(subsample=0.5, random_state=3) == half).all()
        and (scores(subsample=0.5, random_state=4) != half).any()
        and (half != full).any()
    )
