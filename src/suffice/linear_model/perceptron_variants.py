"""Variants of the perceptron: voted, pocket, with a margin, in dual form. Li ch. 2.

Voted perceptrons: Freund and Schapire, "Large margin classification using the perceptron algorithm", 1999.
The pocket: Gallant, "Perceptron-based learning algorithms", 1990. Uneven margins: Li et al., "The perceptron
algorithm with uneven margins", 2002.
"""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np

from ..core.arguments import MaybePath, Seed
from ..estimator.guarantees import DRAWS_ORDER
from ..estimator.parameters import FINITE, Numbers
from ..kernels.base import KernelLike
from .perceptron_base import BasePerceptron, OnlinePerceptron, WarmStartPerceptron
from .perceptron_epochs import Epochs, Form


class _InAnyForm(BasePerceptron):
    """Perceptrons in primal form, or with a kernel in dual form."""

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **BasePerceptron._parameter_constraints,
        "kernel": [str, callable, None],
        "kernel_params": [dict, None],
    }

    def __init__(
        self,
        *,
        fit_intercept: bool = True,
        max_iter: int = 1000,
        tol: float | None = 1e-3,
        shuffle: bool = True,
        eta0: float = 1.0,
        random_state: Any = 0,
        n_iter_no_change: int = 5,
        class_weight: Any = None,
        kernel: Any = None,
        kernel_params: dict[str, Any] | None = None,
        checkpoint: Any = None,
    ) -> None:
        self.fit_intercept = fit_intercept
        self.max_iter = max_iter
        self.tol = tol
        self.shuffle = shuffle
        self.eta0 = eta0
        self.random_state = random_state
        self.n_iter_no_change = n_iter_no_change
        self.class_weight = class_weight
        self.kernel = kernel
        self.kernel_params = kernel_params
        self.checkpoint = checkpoint


class VotedPerceptron(_InAnyForm):
    r"""Perceptron that predicts by the vote of all weights of its fit.

    Parameters
    ----------
    fit_intercept : bool, default=True
        Whether to learn an intercept. If False, the hyperplanes pass through the origin.
    max_iter : int, default=1000
        Maximum number of epochs. The fit stops after an epoch without a mistake.
    tol : float or None, default=0.001
        Stopping criterion. The fit stops when the mean loss of an epoch is greater than best_loss - tol for
        `n_iter_no_change` consecutive epochs. If None, the loss is not compared.
    shuffle : bool, default=True
        Whether to shuffle the rows in each epoch. They are sorted by hashes of their values, so that the
        order in the data does not matter. If False, they are visited in the order of the data.
    eta0 : float, default=1.0
        Step size. With weights that start at zero it only scales them.
    random_state : int, RandomState instance or None, default=0
        Seed of the shuffling.
    n_iter_no_change : int, default=5
        Number of consecutive epochs without a better loss after which the fit stops.
    class_weight : dict or 'balanced', default=None
        Weights of the classes, by which the weights of the rows are multiplied. A weight of 2.8 is two visits
        and one with a step of 0.8.
    kernel : Kernel, str or callable, default=None
        If None, the perceptron learns a weight for each feature (primal form). With a kernel it learns a
        weight for each row from the Gram matrix (dual form): a kernel of :mod:`suffice.kernels`, a name that
        scikit-learn's `pairwise_kernels` knows, a function of two arrays of rows that returns their Gram
        matrix, or 'precomputed' if X is that matrix.
    kernel_params : dict, default=None
        Parameters of a kernel that is passed by name: gamma (one over the number of features if it is
        missing), degree (3) and coef0 (1), as far as the kernel has them.
    checkpoint : str or path, default=None
        File in which progress is saved while the fit runs. A fit that was interrupted resumes from it.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        The unique class labels.
    coef_ : ndarray of shape (n_classes, n_features)
        Last weights of the features; one row for two classes. Not with a kernel, unless it is linear.
    intercept_ : ndarray of shape (n_classes,)
        Intercepts; one for two classes.
    support_ : ndarray of shape (n_support,)
        Indices of the rows that caused an update.
    support_vectors_ : ndarray of shape (n_support, n_features)
        These rows. For a precomputed kernel, their indices.
    dual_coef_ : ndarray of shape (n_classes, n_support)
        Weights of these rows, with the sign of their class.
    updates_ : list of ndarray
        For each problem, the row of each update in the order of the updates.
    votes_ : list of ndarray
        For each problem, the number of visits that the weights after each update survived.
    mistakes_ : ndarray of shape (n_classes,)
        Number of updates; one entry for two classes.
    mistake_bound_ : ndarray of shape (n_classes,)
        Novikoff's bound on the number of updates, from the last weights. It is infinite if they do not
        separate the classes, or if the weights did not start at zero. See
        :func:`~suffice.textbook.novikoff_bound` for the best bound.
    t_ : float
        Number of visits to rows, plus one.
    n_iter_ : int
        Number of epochs.
    trace_ : ndarray of shape (n_iter_,)
        Share of the visits that caused an update, by epoch; the mean over the classes.
    converged_ : bool
        Whether the fit stopped before `max_iter`: after an epoch without a mistake, or because of `tol`.
    separated_ : ndarray of shape (n_classes,)
        Whether the last weights separate each class from the rest; one entry for two classes.
    stopped_because_ : str
        Why the fit stopped.
    model_ : Hyperplanes
        The fitted model.
    statistics_ : Objective
        The perceptron loss at the solution and its gradient, summed over the rows.

    See Also
    --------
    Perceptron : The perceptron in primal form, or the mean of its weights.
    PocketPerceptron : Predict with the weights that classify most rows correctly.
    MarginPerceptron : Update at rows within a margin, too.
    KernelPerceptron : The perceptron in dual form, with any kernel.

    Notes
    -----
    The rows are visited one by one. Where the score of a row :math:`x` of class :math:`y = \pm 1` is on the
    wrong side of the hyperplane or on it, the row is added to the weights:

    .. math::

        y (w^T x + b) \le 0 \quad\Rightarrow\quad w \leftarrow w + \eta y x, \quad b \leftarrow b + \eta y.

    Each update makes new weights :math:`w_m`, which survive :math:`c_m` visits until the next update. The
    decision function is the mean of their votes:

    .. math::

        f(x) = \frac{\sum_m c_m \operatorname{sign}(w_m^T x + b_m)}{\sum_m c_m}.

    All updates are stored, and a prediction takes time in proportion to their number. The mean of the
    weights, ``Perceptron(average=True)``, is nearly as good and as fast as a single perceptron. `coef_` and
    `dual_coef_` are the last weights.

    Several classes are separated each from the rest. The result depends on the order of the visits, so the
    rows of a scan or a cluster are gathered in memory. For data that does not fit, use
    :class:`LogisticRegression`.

    References
    ----------
    Freund and Schapire, "Large margin classification using the perceptron algorithm", 1999.

    Examples
    --------
    >>> from suffice.linear_model import VotedPerceptron
    >>> model = VotedPerceptron(shuffle=False).fit([[3, 3], [4, 3], [1, 1]], [1, 1, -1])
    >>> model.updates_[0], model.votes_[0]
    (array([0, 2, 2, 2, 0, 2, 2]), array([2., 3., 3., 1., 2., 3., 4.]))
    >>> model.decision_function([[3, 3]]).round(2)
    array([0.89])
    """

    exempt = (DRAWS_ORDER,)

    _vote = True


class PocketPerceptron(WarmStartPerceptron, _InAnyForm):
    r"""Perceptron that predicts with the weights that classify most rows correctly.

    Parameters
    ----------
    fit_intercept : bool, default=True
        Whether to learn an intercept. If False, the hyperplanes pass through the origin.
    max_iter : int, default=1000
        Maximum number of epochs. The fit stops after an epoch without a mistake.
    tol : float or None, default=0.001
        Stopping criterion. The fit stops when the mean loss of an epoch is greater than best_loss - tol for
        `n_iter_no_change` consecutive epochs. If None, the loss is not compared.
    shuffle : bool, default=True
        Whether to shuffle the rows in each epoch. They are sorted by hashes of their values, so that the
        order in the data does not matter. If False, they are visited in the order of the data.
    eta0 : float, default=1.0
        Step size. With weights that start at zero it only scales them.
    random_state : int, RandomState instance or None, default=0
        Seed of the shuffling.
    n_iter_no_change : int, default=5
        Number of consecutive epochs without a better loss after which the fit stops.
    class_weight : dict or 'balanced', default=None
        Weights of the classes, by which the weights of the rows are multiplied. A weight of 2.8 is two visits
        and one with a step of 0.8.
    kernel : Kernel, str or callable, default=None
        If None, the perceptron learns a weight for each feature (primal form). With a kernel it learns a
        weight for each row from the Gram matrix (dual form): a kernel of :mod:`suffice.kernels`, a name that
        scikit-learn's `pairwise_kernels` knows, a function of two arrays of rows that returns their Gram
        matrix, or 'precomputed' if X is that matrix.
    kernel_params : dict, default=None
        Parameters of a kernel that is passed by name: gamma (one over the number of features if it is
        missing), degree (3) and coef0 (1), as far as the kernel has them.
    checkpoint : str or path, default=None
        File in which progress is saved while the fit runs. A fit that was interrupted resumes from it.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        The unique class labels.
    coef_ : ndarray of shape (n_classes, n_features)
        Weights of the features; one row for two classes. Not with a kernel, unless it is linear.
    intercept_ : ndarray of shape (n_classes,)
        Intercepts; one for two classes.
    support_ : ndarray of shape (n_support,)
        With a kernel: indices of the rows that caused an update.
    support_vectors_ : ndarray of shape (n_support, n_features)
        With a kernel: these rows. For a precomputed kernel, their indices.
    dual_coef_ : ndarray of shape (n_classes, n_support)
        With a kernel: weights of these rows, with the sign of their class.
    mistakes_ : ndarray of shape (n_classes,)
        Number of updates; one entry for two classes.
    mistake_bound_ : ndarray of shape (n_classes,)
        Novikoff's bound on the number of updates, from the last weights. It is infinite if they do not
        separate the classes, or if the weights did not start at zero. See
        :func:`~suffice.textbook.novikoff_bound` for the best bound.
    t_ : float
        Number of visits to rows, plus one.
    n_iter_ : int
        Number of epochs.
    trace_ : ndarray of shape (n_iter_,)
        Share of the visits that caused an update, by epoch; the mean over the classes.
    converged_ : bool
        Whether the fit stopped before `max_iter`: after an epoch without a mistake, or because of `tol`.
    separated_ : ndarray of shape (n_classes,)
        Whether the last weights separate each class from the rest; one entry for two classes.
    stopped_because_ : str
        Why the fit stopped.
    model_ : Hyperplanes
        The fitted model.
    statistics_ : Objective
        The perceptron loss at the solution and its gradient, summed over the rows.

    See Also
    --------
    Perceptron : The perceptron in primal form, or the mean of its weights.
    VotedPerceptron : Predict by the vote of all weights.
    MarginPerceptron : Update at rows within a margin, too.
    KernelPerceptron : The perceptron in dual form, with any kernel.

    Notes
    -----
    The rows are visited one by one. Where the score of a row :math:`x` of class :math:`y = \pm 1` is on the
    wrong side of the hyperplane or on it, the row is added to the weights:

    .. math::

        y (w^T x + b) \le 0 \quad\Rightarrow\quad w \leftarrow w + \eta y x, \quad b \leftarrow b + \eta y.

    The pocket holds the weights that classify the largest weight of rows correctly. The weights are compared
    with the pocket after each epoch, and when they survived twice as many visits as any weights that were
    compared before (the ratchet of Gallant).

    Several classes are separated each from the rest. The result depends on the order of the visits, so the
    rows of a scan or a cluster are gathered in memory. For data that does not fit, use
    :class:`LogisticRegression`.

    References
    ----------
    Gallant, "Perceptron-based learning algorithms", 1990.

    Examples
    --------
    >>> from suffice.linear_model import PocketPerceptron
    >>> X, y = [[0.0], [1.0], [2.0], [3.0], [4.0]], [0, 0, 1, 0, 1]
    >>> model = PocketPerceptron().fit(X, y)
    >>> model.score(X, y)
    0.8
    """

    exempt = (DRAWS_ORDER,)

    _pocket = True

    def _weights(self, form: Form, epochs: Epochs) -> np.ndarray:
        return epochs.pocket


class MarginPerceptron(OnlinePerceptron):
    r"""Perceptron that also updates at rows within a margin.

    Parameters
    ----------
    margin : float or pair of floats, default=1.0
        The functional margin that a row must exceed, in units of the scores. A pair has the margin of the
        rest (or of the first of two classes) and that of the class.
    fit_intercept : bool, default=True
        Whether to learn an intercept. If False, the hyperplanes pass through the origin.
    max_iter : int, default=1000
        Maximum number of epochs. The fit stops after an epoch without a mistake.
    tol : float or None, default=0.001
        Stopping criterion. The fit stops when the mean loss of an epoch is greater than best_loss - tol for
        `n_iter_no_change` consecutive epochs. If None, the loss is not compared.
    shuffle : bool, default=True
        Whether to shuffle the rows in each epoch. They are sorted by hashes of their values, so that the
        order in the data does not matter. If False, they are visited in the order of the data.
    eta0 : float, default=1.0
        Step size. The ratio of the margin to it decides how many updates there are.
    random_state : int, RandomState instance or None, default=0
        Seed of the shuffling.
    n_iter_no_change : int, default=5
        Number of consecutive epochs without a better loss after which the fit stops.
    class_weight : dict or 'balanced', default=None
        Weights of the classes, by which the weights of the rows are multiplied. A weight of 2.8 is two visits
        and one with a step of 0.8.
    kernel : Kernel, str or callable, default=None
        If None, the perceptron learns a weight for each feature (primal form). With a kernel it learns a
        weight for each row from the Gram matrix (dual form): a kernel of :mod:`suffice.kernels`, a name that
        scikit-learn's `pairwise_kernels` knows, a function of two arrays of rows that returns their Gram
        matrix, or 'precomputed' if X is that matrix.
    kernel_params : dict, default=None
        Parameters of a kernel that is passed by name: gamma (one over the number of features if it is
        missing), degree (3) and coef0 (1), as far as the kernel has them.
    checkpoint : str or path, default=None
        File in which progress is saved while the fit runs. A fit that was interrupted resumes from it.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        The unique class labels.
    coef_ : ndarray of shape (n_classes, n_features)
        Weights of the features; one row for two classes. Not with a kernel, unless it is linear.
    intercept_ : ndarray of shape (n_classes,)
        Intercepts; one for two classes.
    support_ : ndarray of shape (n_support,)
        With a kernel: indices of the rows that caused an update.
    support_vectors_ : ndarray of shape (n_support, n_features)
        With a kernel: these rows. For a precomputed kernel, their indices.
    dual_coef_ : ndarray of shape (n_classes, n_support)
        With a kernel: weights of these rows, with the sign of their class.
    mistakes_ : ndarray of shape (n_classes,)
        Number of updates; one entry for two classes.
    mistake_bound_ : ndarray of shape (n_classes,)
        Novikoff's bound on the number of updates, from the last weights. It is infinite if they do not
        separate the classes, or if the weights did not start at zero. See
        :func:`~suffice.textbook.novikoff_bound` for the best bound.
    t_ : float
        Number of visits to rows, plus one.
    n_iter_ : int
        Number of epochs.
    trace_ : ndarray of shape (n_iter_,)
        Share of the visits that caused an update, by epoch; the mean over the classes.
    converged_ : bool
        Whether the fit stopped before `max_iter`: after an epoch without a mistake, or because of `tol`.
    separated_ : ndarray of shape (n_classes,)
        Whether the last weights separate each class from the rest; one entry for two classes.
    stopped_because_ : str
        Why the fit stopped.
    model_ : Hyperplanes
        The fitted model.
    statistics_ : Objective
        The perceptron loss at the solution and its gradient, summed over the rows.

    See Also
    --------
    Perceptron : The perceptron in primal form, or the mean of its weights.
    VotedPerceptron : Predict by the vote of all weights.
    PocketPerceptron : Predict with the weights that classify most rows correctly.
    KernelPerceptron : The perceptron in dual form, with any kernel.

    Notes
    -----
    The rows are visited one by one. Where the score of a row :math:`x` of class :math:`y = \pm 1` is not
    above the margin :math:`\tau_y` of its class, the row is added to the weights:

    .. math::

        y (w^T x + b) \le \tau_y \quad\Rightarrow\quad
        w \leftarrow w + \eta y x, \quad b \leftarrow b + \eta y.

    If a hyperplane separates the classes with margin :math:`\gamma`, the hyperplane found has at least the
    share :math:`\tau / (2 \tau + \eta R^2)` of it, where :math:`R` is the length of the longest row. Uneven
    margins move the hyperplane away from the class with the larger one, which helps a rare class.

    Several classes are separated each from the rest. The result depends on the order of the visits, so the
    rows of a scan or a cluster are gathered in memory. For data that does not fit, use
    :class:`LogisticRegression`.

    References
    ----------
    Krauth and Mezard, "Learning algorithms with optimal stability in neural networks", 1987.

    Li et al., "The perceptron algorithm with uneven margins", 2002.

    Examples
    --------
    >>> from suffice.linear_model import MarginPerceptron
    >>> X, y = [[3, 3], [4, 3], [1, 1]], [1, 1, -1]
    >>> MarginPerceptron(margin=5.0, tol=None).fit(X, y).decision_function(X)
    array([ 7., 12., -7.])
    """

    exempt = (DRAWS_ORDER,)

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        "margin": [FINITE, Numbers()],
        **_InAnyForm._parameter_constraints,
    }

    def __init__(
        self,
        *,
        margin: Any = 1.0,
        fit_intercept: bool = True,
        max_iter: int = 1000,
        tol: float | None = 1e-3,
        shuffle: bool = True,
        eta0: float = 1.0,
        random_state: Seed = 0,
        n_iter_no_change: int = 5,
        class_weight: dict[Any, float] | str | None = None,
        kernel: KernelLike | None = None,
        kernel_params: dict[str, Any] | None = None,
        checkpoint: MaybePath = None,
    ) -> None:
        self.margin = margin
        self.fit_intercept = fit_intercept
        self.max_iter = max_iter
        self.tol = tol
        self.shuffle = shuffle
        self.eta0 = eta0
        self.random_state = random_state
        self.n_iter_no_change = n_iter_no_change
        self.class_weight = class_weight
        self.kernel = kernel
        self.kernel_params = kernel_params
        self.checkpoint = checkpoint

    def _check_options(self) -> None:
        super()._check_options()
        if np.size(self.margin) not in (1, 2):
            raise ValueError(f"margin={self.margin!r} must be a number, or a pair of them.")

    def _margins(self) -> np.ndarray:
        return np.zeros(2) + np.ravel(self.margin)


class KernelPerceptron(BasePerceptron):
    r"""Perceptron in dual form: a weight for each row, learnt from the Gram matrix.

    Parameters
    ----------
    kernel : Kernel, str or callable, default='linear'
        A kernel of :mod:`suffice.kernels`, a name that scikit-learn's `pairwise_kernels` knows, a function of
        two arrays of rows that returns their Gram matrix, or 'precomputed' if X is that matrix.
    kernel_params : dict, default=None
        Parameters of a kernel that is passed by name: gamma (one over the number of features if it is
        missing), degree (3) and coef0 (1), as far as the kernel has them.
    average : bool, default=False
        Whether to predict with the mean of the weights over all visits, instead of the last weights.
    fit_intercept : bool, default=True
        Whether to learn an intercept. If False, the hyperplanes pass through the origin.
    max_iter : int, default=1000
        Maximum number of epochs. The fit stops after an epoch without a mistake.
    tol : float or None, default=0.001
        Stopping criterion. The fit stops when the mean loss of an epoch is greater than best_loss - tol for
        `n_iter_no_change` consecutive epochs. If None, the loss is not compared.
    shuffle : bool, default=True
        Whether to shuffle the rows in each epoch. They are sorted by hashes of their values, so that the
        order in the data does not matter. If False, they are visited in the order of the data.
    eta0 : float, default=1.0
        Step size. With weights that start at zero it only scales them.
    random_state : int, RandomState instance or None, default=0
        Seed of the shuffling.
    n_iter_no_change : int, default=5
        Number of consecutive epochs without a better loss after which the fit stops.
    class_weight : dict or 'balanced', default=None
        Weights of the classes, by which the weights of the rows are multiplied. A weight of 2.8 is two visits
        and one with a step of 0.8.
    checkpoint : str or path, default=None
        File in which progress is saved while the fit runs. A fit that was interrupted resumes from it.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        The unique class labels.
    coef_ : ndarray of shape (n_classes, n_features)
        Weights of the features; one row for two classes. Only with a linear kernel.
    intercept_ : ndarray of shape (n_classes,)
        Intercepts; one for two classes.
    support_ : ndarray of shape (n_support,)
        Indices of the rows that caused an update.
    support_vectors_ : ndarray of shape (n_support, n_features)
        These rows. For a precomputed kernel, their indices.
    dual_coef_ : ndarray of shape (n_classes, n_support)
        Weights of these rows, with the sign of their class.
    mistakes_ : ndarray of shape (n_classes,)
        Number of updates; one entry for two classes.
    mistake_bound_ : ndarray of shape (n_classes,)
        Novikoff's bound on the number of updates, from the last weights. It is infinite if they do not
        separate the classes, or if the weights did not start at zero. See
        :func:`~suffice.textbook.novikoff_bound` for the best bound.
    t_ : float
        Number of visits to rows, plus one.
    n_iter_ : int
        Number of epochs.
    trace_ : ndarray of shape (n_iter_,)
        Share of the visits that caused an update, by epoch; the mean over the classes.
    converged_ : bool
        Whether the fit stopped before `max_iter`: after an epoch without a mistake, or because of `tol`.
    separated_ : ndarray of shape (n_classes,)
        Whether the last weights separate each class from the rest; one entry for two classes.
    stopped_because_ : str
        Why the fit stopped.
    model_ : Hyperplanes
        The fitted model.
    statistics_ : Objective
        The perceptron loss at the solution and its gradient, summed over the rows.

    See Also
    --------
    Perceptron : The perceptron in primal form, or the mean of its weights.
    VotedPerceptron : Predict by the vote of all weights.
    PocketPerceptron : Predict with the weights that classify most rows correctly.
    MarginPerceptron : Update at rows within a margin, too.
    sklearn.kernel_approximation.Nystroem : Features for `Perceptron` if the Gram matrix is too large.

    Notes
    -----
    With a kernel :math:`k` the weights are those of rows, :math:`w = \sum_n \alpha_n \phi(x_n)`, and a
    mistake at row :math:`n` changes one of them:

    .. math::

        y_n \Big(\sum_m \alpha_m k(x_m, x_n) + b\Big) \le 0 \quad\Rightarrow\quad
        \alpha_n \leftarrow \alpha_n + \eta y_n, \quad b \leftarrow b + \eta y_n.

    With the linear kernel the updates are those of :class:`Perceptron`, and `coef_` are its weights. The Gram
    matrix of N rows takes :math:`8 N^2` bytes.

    Several classes are separated each from the rest. The result depends on the order of the visits, so the
    rows of a scan or a cluster are gathered in memory. For data that does not fit, use
    :class:`LogisticRegression`.

    References
    ----------
    Aizerman, Braverman and Rozonoer, "Theoretical foundations of the potential function method in pattern
    recognition learning", 1964.

    Freund and Schapire, "Large margin classification using the perceptron algorithm", 1999.

    Examples
    --------
    >>> from suffice.linear_model import KernelPerceptron
    >>> X, y = [[0, 0], [0, 1], [1, 0], [1, 1]], ["a", "b", "b", "a"]
    >>> from suffice.kernels import RBF
    >>> model = KernelPerceptron(kernel=RBF(gamma=1.0)).fit(X, y)
    >>> model.predict(X)
    array(['a', 'b', 'b', 'a'], dtype='<U1')
    >>> model.support_
    array([0, 1, 2, 3])
    """

    exempt = (DRAWS_ORDER,)

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **_InAnyForm._parameter_constraints,
        "kernel": [str, callable],
        "average": ["boolean"],
    }

    def __init__(
        self,
        *,
        kernel: KernelLike = "linear",
        kernel_params: dict[str, Any] | None = None,
        average: bool = False,
        fit_intercept: bool = True,
        max_iter: int = 1000,
        tol: float | None = 1e-3,
        shuffle: bool = True,
        eta0: float = 1.0,
        random_state: Seed = 0,
        n_iter_no_change: int = 5,
        class_weight: dict[Any, float] | str | None = None,
        checkpoint: MaybePath = None,
    ) -> None:
        self.kernel = kernel
        self.kernel_params = kernel_params
        self.average = average
        self.fit_intercept = fit_intercept
        self.max_iter = max_iter
        self.tol = tol
        self.shuffle = shuffle
        self.eta0 = eta0
        self.random_state = random_state
        self.n_iter_no_change = n_iter_no_change
        self.class_weight = class_weight
        self.checkpoint = checkpoint

    def _weights(self, form: Form, epochs: Epochs) -> np.ndarray:
        return form.mean(epochs) if self.average else epochs.W
