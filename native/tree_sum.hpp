// Sums of pieces of rows, in the order in which a fold adds them: `tree_sum` of core/statistics.py.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

namespace suffice {

// Terms are added by the carries of binary counting, so that at most log2(n) + 1 partial sums are held.
class TreeSum {
  public:
    void add(std::vector<double> term) {
        partial.push_back(std::move(term));
        for (int64_t n = count++; n & 1; n >>= 1) add_last();
    }

    // The sum of the terms so far, of which there is at least one.
    const std::vector<double>& sum() {
        while (partial.size() > 1) add_last();
        return partial.back();
    }

  private:
    // Add the last partial sum to the one before.
    void add_last() {
        const std::vector<double> last = std::move(partial.back());
        partial.pop_back();
        for (size_t i = 0; i < last.size(); i++) partial.back()[i] += last[i];
    }

    std::vector<std::vector<double>> partial;
    int64_t count = 0;
};

}  // namespace suffice
