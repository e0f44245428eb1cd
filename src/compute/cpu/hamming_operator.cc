#include "compute/cpu/hamming_operator.h"

#include <algorithm>

#include "base/offset.h"

namespace kweave {
namespace {

// Values of a block that stay in the nearest cache.
constexpr Index kMostInBlock = 4096;
// Neighbours that are taken through all places above a block at a time: a cache line of doubles, eight times.
constexpr Index kColumns = 64;

double Binomial(int n, int k) {
  if (k < 0 || k > n) return 0;
  double value = 1;
  for (int i = 1; i <= k; ++i) value = value * (n - k + i) / i;
  return value;
}

double Power(double base, int exponent) {
  double value = 1;
  for (int i = 0; i < exponent; ++i) value *= base;
  return value;
}

// How much words at distance d from 0 add to the eigenvalue of s places.
double Krawtchouk(int letters, int alphabet, int d, int s) {
  double sum = 0;
  for (int j = 0; j <= d; ++j) {
    const double term = Binomial(s, j) * Binomial(letters - s, d - j) * Power(alphabet - 1, d - j);
    sum += j % 2 == 0 ? term : -term;
  }
  return sum;
}

// Of `alphabet` values, `stride` apart: mean and differences, of `count` such rows side by side. kLetters:
// the alphabet, where the compiler knows it; else 0.
template <int kLetters>
void Analyse(double* first, Index stride, int letters, Index count) {
  const int alphabet = kLetters > 0 ? kLetters : letters;
  const double share = 1.0 / alphabet;
  for (Index j = 0; j < count; ++j) {
    double sum = first[j];
    for (int c = 1; c < alphabet; ++c) sum += first[c * stride + j];
    const double mean = share * sum;
    first[j] = mean;
    for (int c = 1; c < alphabet; ++c) first[c * stride + j] -= mean;
  }
}

template <int kLetters>
void Restore(double* first, Index stride, int letters, Index count) {
  const int alphabet = kLetters > 0 ? kLetters : letters;
  for (Index j = 0; j < count; ++j) {
    const double mean = first[j];
    double sum = 0;
    for (int c = 1; c < alphabet; ++c) {
      sum += first[c * stride + j];
      first[c * stride + j] += mean;
    }
    first[j] = mean - sum;
  }
}

using Step = void (*)(double* first, Index stride, int letters, Index count);

Step AnalysisOf(int alphabet) {
  return alphabet == 4 ? Analyse<4> : alphabet == 20 ? Analyse<20> : Analyse<0>;
}
Step RestorationOf(int alphabet) {
  return alphabet == 4 ? Restore<4> : alphabet == 20 ? Restore<20> : Restore<0>;
}

}  // namespace

std::vector<double> GappedWeights(int letters, int chosen) {
  std::vector<double> weights;
  for (int d = 0; d <= letters; ++d) weights.push_back(Binomial(letters - d, chosen));
  return weights;
}

// Of the d places in which two words differ, a third word has the letter of the first at i of them, of the
// second at j, and another one at the rest; of the others it changes r.
std::vector<double> MismatchWeights(int letters, int most, int alphabet) {
  std::vector<double> weights(Offset(letters + 1), 0.0);
  for (int d = 0; d <= letters; ++d) {
    for (int i = 0; i <= d; ++i) {
      for (int j = 0; i + j <= d; ++j) {
        for (int r = 0; r <= letters - d && d - i + r <= most && d - j + r <= most; ++r) {
          weights[Offset(d)] += Binomial(d, i) * Binomial(d - i, j) * Power(alphabet - 2, d - i - j) *
                                Binomial(letters - d, r) * Power(alphabet - 1, r);
        }
      }
    }
  }
  return weights;
}

HammingOperator::HammingOperator(int letters, int alphabet, std::span<const double> weights)
    : letters_(letters), alphabet_(alphabet), low_(0), words_(1), block_(1) {
  for (int p = 0; p < letters; ++p) words_ *= alphabet;
  while (low_ < letters && block_ * alphabet <= kMostInBlock) {
    block_ *= alphabet;
    ++low_;
  }
  for (int s = 0; s <= letters; ++s) {
    double value = 0;
    for (int d = 0; d <= letters; ++d) value += weights[Offset(d)] * Krawtchouk(letters, alphabet, d, s);
    eigenvalues_.push_back(value);
  }
  varied_.assign(Offset(block_), 0);
  for (Index u = 0; u < block_; ++u) {
    for (Index rest = u; rest > 0; rest /= alphabet) varied_[Offset(u)] += rest % alphabet != 0;
  }
}

void HammingOperator::Apply(std::span<double> table, ThreadPool* pool) const {
  const auto for_all = [&](Index count, const auto& body) {
    if (pool == nullptr) {
      for (Index i = 0; i < count; ++i) body(i);
    } else {
      pool->ParallelFor(count, 1, [&](Index begin, Index end, int) {
        for (Index i = begin; i < end; ++i) body(i);
      });
    }
  };
  const auto for_places = [&](double* block, Step step) {
    for (Index stride = 1; stride < block_; stride *= alphabet_) {
      for (Index at = 0; at < block_; at += stride * alphabet_) step(block + at, stride, alphabet_, stride);
    }
  };
  for_all(words_ / block_, [&](Index b) { for_places(table.data() + b * block_, AnalysisOf(alphabet_)); });
  for_all((block_ + kColumns - 1) / kColumns,
          [&](Index c) { ApplyHigh(table.data(), c * kColumns, std::min(block_, (c + 1) * kColumns)); });
  for_all(words_ / block_, [&](Index b) { for_places(table.data() + b * block_, RestorationOf(alphabet_)); });
}

// The places above a block, and the eigenvalues, of the values [begin, end) of all blocks.
void HammingOperator::ApplyHigh(double* table, Index begin, Index end) const {
  const auto for_places = [&](Step step) {
    for (Index stride = block_; stride < words_; stride *= alphabet_) {
      for (Index top = 0; top < words_; top += stride * alphabet_) {
        for (Index at = top; at < top + stride; at += block_) {
          step(table + at + begin, stride, alphabet_, end - begin);
        }
      }
    }
  };
  for_places(AnalysisOf(alphabet_));
  for (Index b = 0; b < words_ / block_; ++b) {
    int varied = 0;
    for (Index rest = b; rest > 0; rest /= alphabet_) varied += rest % alphabet_ != 0;
    double* values = table + b * block_;
    for (Index j = begin; j < end; ++j) values[j] *= eigenvalues_[Offset(varied + varied_[Offset(j)])];
  }
  for_places(RestorationOf(alphabet_));
}

}  // namespace kweave
