"""
A function for each feature
===========================

This example predicts the progress of diabetes from six measurements. An additive model fits a smooth function
of each feature, with a confidence band. Some of these functions are straight lines, as in linear regression,
some are nonlinear, and some are not significant.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_diabetes

from suffice.additive import (
    AdditiveModel,
    GeneralizedAdditiveModel,
    SmoothingSpline,
)
from suffice.plot import PartialEffectsDisplay

X, y = load_diabetes(return_X_y=True, as_frame=True, scaled=False)
X = X[["age", "bmi", "bp", "s3", "s5", "s6"]]
model = AdditiveModel().fit(X, y)

print(f"{'':5} {'degrees of freedom':>18} {'p-value':>9}")
for name, freedom, p in zip(X.columns, model.edf_, model.p_values_, strict=True):
    print(f"{name:5} {freedom:18.1f} {p:9.2g}")

_, axes = plt.subplots(
    2, 3, figsize=(8.7, 5.0), sharey=True, layout="constrained"
)
PartialEffectsDisplay.from_estimator(model, ax=axes)
plt.show()

# %%
# The smoothness of each function is estimated from the data, by restricted maximum likelihood (REML). A curve
# of one feature shows the effect of the penalty: from a straight line to a curve that overfits the noise.

rng = np.random.default_rng(0)
x = rng.uniform(0.0, 10.0, size=(200, 1))
wave = np.sin(x[:, 0]) + 0.4 * rng.normal(size=200)
grid = np.linspace(-1.0, 11.0, 200)[:, None]
figure, axis = plt.subplots(figsize=(6.0, 3.8), layout="constrained")
axis.plot(x[:, 0], wave, ".", color="0.7", ms=4)
best = SmoothingSpline().fit(x, wave)
for spline, label in (
    (SmoothingSpline(alpha=np.inf).fit(x, wave), "a line"),
    (best, f"by cross-validation, {best.df_:.1f} degrees of freedom"),
    (SmoothingSpline(df=60).fit(x, wave), "60 degrees of freedom"),
):
    axis.plot(grid, spline.predict(grid), lw=1.8, label=label)
axis.set(xlabel="x", ylabel="y")
axis.legend(frameon=False, fontsize=9)
axis.spines[["top", "right"]].set_visible(False)
plt.show()

# %%
# For two classes, the sum of the functions is the log-odds, here of progress above the median.

above = GeneralizedAdditiveModel("binomial").fit(X, y > y.median())
print(
    f"right: {above.score(X, y > y.median()):.0%}, after {above.n_iter_} passes"
)
PartialEffectsDisplay.from_estimator(above, features=["bmi", "bp", "s5"])
plt.show()
