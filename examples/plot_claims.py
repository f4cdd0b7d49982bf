"""
Means that grow by factors: Poisson regression
==============================================

Claims of insurance policies are counts, with a rate per year that each feature multiplies by a factor. Least
squares fits a line to the rates: some of its predictions are negative, and policies of a few days count as
much as those of a year. :class:`~suffice.linear_model.PoissonRegressor` fits the logarithm of the rate, and
its weights are the years.
"""

import matplotlib.pyplot as plt
import numpy as np

from suffice.linear_model import LinearRegression, PoissonRegressor

rng = np.random.default_rng(0)
N = 4000
age = rng.uniform(18.0, 80.0, size=N)
years = rng.uniform(0.05, 1.0, size=N)
rate = np.exp(0.8 - age / 18.0)
claims = rng.poisson(years * rate)
X = age[:, None]

poisson = PoissonRegressor(alpha=0.0, tol=1e-8).fit(
    X, claims / years, sample_weight=years
)
line = LinearRegression().fit(X, claims / years)

# %%
# Observed rates in groups of equal size, with the standard error of a Poisson count.

grid = np.linspace(18.0, 80.0, 200)[:, None]
groups = np.array_split(np.argsort(age), 16)
middle = [age[g].mean() for g in groups]
observed = np.array([claims[g].sum() / years[g].sum() for g in groups])
error = np.array([np.sqrt(claims[g].sum()) / years[g].sum() for g in groups])

fig, axes = plt.subplots(1, 2, figsize=(10, 4), layout="constrained")
for ax in axes:
    ax.errorbar(middle, observed, error, fmt="o", color="0.35", label="observed")
    ax.plot(grid, poisson.predict(grid), color="C0", label="Poisson regression")
    ax.plot(grid, line.predict(grid), color="C1", ls="--", label="least squares")
    ax.set_xlabel("age")
axes[0].axhline(0.0, color="0.8", lw=1)
axes[0].set_ylabel("claims per year")
axes[0].legend(frameon=False)
axes[1].set_yscale("log")
axes[1].set_ylim(0.01, 2.0)
axes[1].set_title("the same, on a log scale")
plt.show()

# %%
# The fraction of the deviance that is explained; and what ten more years of age do to the rate: it is
# multiplied by this factor.

print(f"deviance explained: {poisson.score(X, claims / years, years):.2f}")
factor, truth = np.exp(10.0 * poisson.coef_[0]), np.exp(-10.0 / 18.0)
print(f"ten years more: times {factor:.2f}, in truth {truth:.2f}")
