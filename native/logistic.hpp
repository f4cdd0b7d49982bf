// The logistic loss, of a number or of lanes.
#pragma once

#include "elementary.hpp"

namespace suffice {

template <class F>
struct LogisticLoss {
    F value, p, curvature;
};

// log(1 + exp(-m)) of the margin m: the score of the class that was seen, less that of the other. Its derivative
// is -p, with the probability p of the other class, and its curvature p (1 - p). From e = exp(-|m|), so that
// neither p nor 1 - p is rounded where it is near 0.
template <class F>
static INLINE LogisticLoss<F> logistic_loss(const F& m) {
    const F zero = as<F>(0.0), e = exp<F>(zero - greatest(m, zero - m)), likely = 1.0 / (1.0 + e);
    return {log1p<F>(e) + greatest(zero, zero - m), select(zero < m, e * likely, likely), e * likely * likely};
}

}  // namespace suffice
