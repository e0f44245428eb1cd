#include "kernel/wds.h"

#include <algorithm>
#include <vector>

#include "base/offset.h"
#include "compute/cpu/match_runs.h"
#include "kernel/sequence_kernel.h"
#include "kernel/wd.h"

namespace kweave {
namespace {

std::vector<double> WeightsOfWords(const KernelParameters& parameters) {
  return WordWeights({parameters[0], 0, 0});
}

// What equal words at positions i and i + shift add, relative to those at the same.
double ShareOf(Index shift) { return shift == 0 ? 1 : 1 / (2 * (static_cast<double>(std::abs(shift)) + 1)); }

// Of the words of x by their positions; those of z, `shift` letters on, lie in the region, too.
RunWeights WeightsOf(const SequenceRequest& request, Index shift) {
  const std::vector<double> of_word = WeightsOfWords(request.parameters);
  const LetterRange range = Resolve(request.region, request.left.length);
  RunWeights weights(request.left.length, static_cast<int>(of_word.size()));
  for (Index i = std::max(range.begin, range.begin - shift); i < std::min(range.end, range.end - shift);
       ++i) {
    const auto most = std::min(static_cast<Index>(of_word.size()), range.limit - std::max(i, i + shift));
    for (Index k = 1; k <= most; ++k) {
      weights.Add(i, static_cast<int>(k), ShareOf(shift) * of_word[Offset(k - 1)]);
    }
  }
  return weights;
}

template <class T>
class WdsValues final : public SequenceValues<T> {
 public:
  explicit WdsValues(const SequenceRequest& request)
      : is_training_(request.is_training),
        left_(request.left),
        right_(is_training_ ? LetterPlanes() : LetterPlanes(request.right)) {
    const auto most = std::min(static_cast<Index>(request.parameters[1]), request.left.length - 1);
    for (Index shift = -most; shift <= most; ++shift) {
      tables_.emplace_back(WeightsOf(request, shift), shift);
      exact_.emplace_back(WeightsOf(request, shift), shift);
    }
  }

  void Rows(std::span<const Index> rows, Index begin, Index end, T* out, Index stride) const override {
    for (std::size_t r = 0; r < rows.size(); ++r) {
      std::fill_n(out + static_cast<Index>(r) * stride, end - begin, T{0});
    }
    for (const RunTable<T>& table : tables_) {
      AddRunValues(left_, rows, right(), begin, end, table, out, stride);
    }
  }
  double LeftDiagonal(Index i) const override { return Diagonal(left_, i); }
  double RightDiagonal(Index j) const override { return Diagonal(right(), j); }

 private:
  const LetterPlanes& right() const { return is_training_ ? left_ : right_; }
  static double Value(const LetterPlanes& letters, Index i, const std::vector<RunTable<double>>& tables) {
    const Index begin = i / kLettersAbreast * kLettersAbreast;
    std::vector<double> values(Offset(i + 1 - begin), 0.0);
    for (const RunTable<double>& table : tables) {
      AddRunValues(letters, std::span(&i, 1), letters, begin, i + 1, table, values.data(),
                   static_cast<Index>(values.size()));
    }
    return values.back();
  }
  double Diagonal(const LetterPlanes& letters, Index i) const { return Value(letters, i, exact_); }

  bool is_training_;
  LetterPlanes left_, right_;
  std::vector<RunTable<T>> tables_;      // by shift
  std::vector<RunTable<double>> exact_;  // the same, of diagonals
};

template <class T>
std::unique_ptr<SequenceValues<T>> MakeValues(const SequenceRequest& request) {
  return std::make_unique<WdsValues<T>>(request);
}

// Bit planes, and tables of runs for every shift in two precisions.
std::size_t Bytes(const SequenceRequest& request) {
  const Index count = request.left.size() + (request.is_training ? 0 : request.right.size());
  const std::size_t of_letters = Offset((request.left.length + 31) / 32 * (request.left.bits + 1)) * 4;
  const double tables = (2 * request.parameters[1] + 1) * static_cast<double>(request.left.length) *
                        (request.parameters[0] + 1) * 2 * sizeof(double);
  return Offset(count) * of_letters + static_cast<std::size_t>(tables);
}

double Plain(std::span<const int> x, std::span<const int> z, const KernelParameters& parameters,
             const Region& region, std::string_view) {
  const std::vector<double> weights = WeightsOfWords(parameters);
  const LetterRange range = Resolve(region, static_cast<Index>(x.size()));
  double sum = 0;
  for (Index i = range.begin; i < range.end; ++i) {
    for (Index j = range.begin; j < range.end; ++j) {
      if (static_cast<double>(std::abs(i - j)) > parameters[1]) continue;
      for (std::size_t k = 0; k < weights.size() && std::max(i, j) + static_cast<Index>(k) < range.limit;
           ++k) {
        const int letter = x[Offset(i) + k];
        if (letter < 0 || letter != z[Offset(j) + k]) break;
        sum += ShareOf(i - j) * weights[k];
      }
    }
  }
  return sum;
}

constexpr SequenceKernel kWdsSequences = {.needs_equal_lengths = true,
                                          .values_f32 = MakeValues<float>,
                                          .values_f64 = MakeValues<double>,
                                          .bytes = Bytes,
                                          .plain = Plain};

constexpr BaseQuantity kWdsQuantity = {.name = "equal words at close positions",
                                       .source = BaseQuantity::Source::kSequences,
                                       .sequences = &kWdsSequences};

constexpr double kLongestWord = 255;   // as in weighted degrees without shifts
constexpr double kLargestShift = 255;  // a comparison of two sequences for every shift in either direction

constexpr ParameterRule kRules[] = {
    {.name = "degree",
     .sentence = "the longest words that count",
     .initial = "20",
     .least = 1,
     .excludes_least = false,
     .most = kLongestWord,
     .is_whole = true},
    {.name = "shift",
     .sentence = "the largest distance of equal words",
     .initial = "5",
     .least = 0,
     .excludes_least = false,
     .most = kLargestShift,
     .is_whole = true},
};

}  // namespace

constinit const KernelKind kWds = {
    .name = "wds",
    .class_name = "WeightedDegreeShift",
    .sentence =
        "sequences of one length: as wd, words up to `shift` letters apart, at a distance of s > 0 "
        "with the factor 1 / (2 (s + 1))",
    .base = &kWdsQuantity,
    .parameters = kRules,
};

}  // namespace kweave
