#include "kernel/wd.h"

#include <algorithm>

#include "base/offset.h"
#include "compute/cpu/match_runs.h"
#include "kernel/sequence_kernel.h"

namespace kweave {
namespace {

RunWeights WeightsOf(const SequenceRequest& request) {
  const std::vector<double> of_word = WordWeights(request.parameters);
  const LetterRange range = Resolve(request.region, request.left.length);
  RunWeights weights(request.left.length, static_cast<int>(of_word.size()));
  for (Index i = range.begin; i < range.end; ++i) {
    const auto most = std::min(static_cast<Index>(of_word.size()), range.limit - i);
    for (Index k = 1; k <= most; ++k) weights.Add(i, static_cast<int>(k), of_word[Offset(k - 1)]);
  }
  return weights;
}

template <class T>
class WdValues final : public SequenceValues<T> {
 public:
  explicit WdValues(const SequenceRequest& request)
      : left_letters_(request.left),
        right_letters_(request.right),
        is_training_(request.is_training),
        weights_(WeightsOf(request)),
        table_(weights_),
        left_(request.left),
        right_(is_training_ ? LetterPlanes() : LetterPlanes(request.right)) {}

  void Rows(std::span<const Index> rows, Index begin, Index end, T* out, Index stride) const override {
    for (std::size_t r = 0; r < rows.size(); ++r) {
      std::fill_n(out + static_cast<Index>(r) * stride, end - begin, T{0});
    }
    AddRunValues(left_, rows, is_training_ ? left_ : right_, begin, end, table_, out, stride);
  }
  double LeftDiagonal(Index i) const override { return Diagonal(left_letters_, i, left_diagonal_); }
  double RightDiagonal(Index j) const override { return Diagonal(right_letters_, j, right_diagonal_); }

 private:
  // Of all when it is first asked for.
  double Diagonal(const PackedLetters& letters, Index i, std::vector<double>& values) const {
    if (values.empty()) {
      values.assign(Offset(letters.size()), 0.0);
      AddSelfValues(letters, weights_, values);
    }
    return values[Offset(i)];
  }

  PackedLetters left_letters_, right_letters_;
  bool is_training_;
  RunWeights weights_;
  RunTable<T> table_;
  LetterPlanes left_, right_;
  mutable std::vector<double> left_diagonal_, right_diagonal_;
};

template <class T>
std::unique_ptr<SequenceValues<T>> MakeValues(const SequenceRequest& request) {
  return std::make_unique<WdValues<T>>(request);
}

// Bit planes, and a place for each diagonal.
std::size_t Bytes(const SequenceRequest& request) {
  const Index count = request.left.size() + (request.is_training ? 0 : request.right.size());
  const std::size_t of_letters = Offset((request.left.length + 31) / 32 * (request.left.bits + 1)) * 4;
  return Offset(count) * (of_letters + sizeof(double));
}

double Plain(std::span<const int> x, std::span<const int> z, const KernelParameters& parameters,
             const Region& region, std::string_view) {
  const std::vector<double> weights = WordWeights(parameters);
  const LetterRange range = Resolve(region, static_cast<Index>(x.size()));
  double sum = 0;
  for (Index i = range.begin; i < range.end; ++i) {
    for (std::size_t k = 0; k < weights.size() && i + static_cast<Index>(k) < range.limit; ++k) {
      const int letter = x[Offset(i) + k];
      if (letter < 0 || letter != z[Offset(i) + k]) break;
      sum += weights[k];
    }
  }
  return sum;
}

constexpr SequenceKernel kWdSequences = {.needs_equal_lengths = true,
                                         .values_f32 = MakeValues<float>,
                                         .values_f64 = MakeValues<double>,
                                         .bytes = Bytes,
                                         .plain = Plain};

constexpr BaseQuantity kWdQuantity = {.name = "equal words at equal positions",
                                      .source = BaseQuantity::Source::kSequences,
                                      .sequences = &kWdSequences};

constexpr double kLongestWord = 255;  // what neighbours in a sorted list have in common is kept in a byte

constexpr ParameterRule kRules[] = {
    {.name = "degree",
     .sentence = "the longest words that count",
     .initial = "20",
     .least = 1,
     .excludes_least = false,
     .most = kLongestWord,
     .is_whole = true,
     .alternative = 1},
    {.name = "order",
     .sentence = "words of this many letters and no others, each counted once",
     .initial = "0",
     .least = 1,
     .excludes_least = false,
     .most = kLongestWord,
     .is_whole = true,
     .alternative = 0},
};

}  // namespace

std::vector<double> WordWeights(const KernelParameters& parameters) {
  const auto [degree, order, unused] = parameters;
  std::vector<double> weights(static_cast<std::size_t>(std::max(degree, order)), 0.0);
  if (order > 0) {
    weights.back() = 1;
    return weights;
  }
  for (std::size_t k = 0; k < weights.size(); ++k) {
    weights[k] = 2 * (degree - static_cast<double>(k)) / (degree * (degree + 1));
  }
  return weights;
}

constinit const KernelKind kWd = {
    .name = "wd",
    .sentence =
        "sequences of one length: over equal words of k <= degree letters at equal positions, sum of "
        "2 (degree - k + 1) / (degree (degree + 1)); wd(order=k): how many of k letters",
    .base = &kWdQuantity,
    .parameters = kRules,
};

}  // namespace kweave
