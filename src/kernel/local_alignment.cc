#include "kernel/local_alignment.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "base/offset.h"
#include "compute/cpu/word_counts.h"
#include "kernel/sequence_kernel.h"

namespace kweave {
namespace {

// What a step of an alignment multiplies its term by.
struct Factors {
  explicit Factors(const KernelParameters& parameters)
      : equal(std::exp(parameters[0])),
        different(std::exp(-parameters[0])),
        open(std::exp(-parameters[0] * parameters[1])),
        extend(std::exp(-parameters[0] * parameters[2])) {}
  double equal, different, open, extend;
};

// Sums over the alignments that end at a letter of x and one of z: with the two aligned, or with a gap in
// either.
struct Ends {
  double aligned = 0, gap_in_z = 0, gap_in_x = 0;
};

// The logarithm of the sum over all alignments (equations 8 to 13 of the paper). Sums are kept within range
// by a factor that all of them have.
double LogSum(std::span<const std::uint8_t> x, std::span<const std::uint8_t> z, const Factors& factors) {
  constexpr double kLarge = 1e200, kSmall = 1e-200;  // far from overflow by one row of products
  std::vector<Ends> before(z.size() + 1), now(z.size() + 1);
  double one = 1, log_factor = 0, sum = 1;
  for (const std::uint8_t letter : x) {
    double largest = 0;
    now[0] = {};
    for (std::size_t j = 1; j <= z.size(); ++j) {
      const Ends &both = before[j - 1], &above = before[j], &left = now[j - 1];
      const bool is_known = letter != kUnknownLetter && z[j - 1] != kUnknownLetter;
      const double factor = !is_known ? 0 : letter == z[j - 1] ? factors.equal : factors.different;
      now[j].aligned = factor * (one + both.aligned + both.gap_in_z + both.gap_in_x);
      now[j].gap_in_z = factors.open * above.aligned + factors.extend * above.gap_in_z;
      now[j].gap_in_x = factors.open * (left.aligned + left.gap_in_z) + factors.extend * left.gap_in_x;
      sum += now[j].aligned;
      largest = std::max({largest, now[j].aligned, sum});
    }
    if (largest > kLarge) {
      for (Ends& ends : now) {
        ends = {kSmall * ends.aligned, kSmall * ends.gap_in_z, kSmall * ends.gap_in_x};
      }
      one *= kSmall;
      sum *= kSmall;
      log_factor -= std::log(kSmall);
    }
    std::swap(before, now);
  }
  return log_factor + std::log(sum);
}

template <class T>
class LocalAlignmentValues final : public SequenceValues<T> {
 public:
  explicit LocalAlignmentValues(const SequenceRequest& request)
      : request_(request), factors_(request.parameters) {
    half_left_ = HalvesOf(request.left);
    if (!request.is_training) half_right_ = HalvesOf(request.right);
  }

  void Rows(std::span<const Index> rows, Index begin, Index end, T* out, Index stride) const override {
    const std::vector<double>& halves = request_.is_training ? half_left_ : half_right_;
    std::vector<std::vector<std::uint8_t>> left;
    for (const Index i : rows) left.push_back(LettersAt(request_.left, i));
    for (Index j = begin; j < end; ++j) {
      const std::vector<std::uint8_t> right = LettersAt(request_.right, j);
      for (std::size_t r = 0; r < rows.size(); ++r) {
        const double log_sum =
            LogSum(left[r], right, factors_) - half_left_[Offset(rows[r])] - halves[Offset(j)];
        out[static_cast<Index>(r) * stride + j - begin] = static_cast<T>(std::exp(log_sum));
      }
    }
  }
  double LeftDiagonal(Index) const override { return 1; }
  double RightDiagonal(Index) const override { return 1; }

 private:
  std::vector<std::uint8_t> LettersAt(const PackedLetters& letters, Index i) const {
    std::vector<std::uint8_t> bytes;
    CopyLetters(letters, i, bytes);
    const LetterRange range = Resolve(request_.region, static_cast<Index>(bytes.size()));
    return {bytes.begin() + range.begin, bytes.begin() + range.end};
  }
  // Half the logarithm of the sum of a sequence with itself.
  std::vector<double> HalvesOf(const PackedLetters& letters) const {
    std::vector<double> halves;
    for (Index i = 0; i < letters.size(); ++i) {
      const std::vector<std::uint8_t> bytes = LettersAt(letters, i);
      halves.push_back(0.5 * LogSum(bytes, bytes, factors_));
    }
    return halves;
  }

  SequenceRequest request_;
  Factors factors_;
  std::vector<double> half_left_, half_right_;
};

template <class T>
std::unique_ptr<SequenceValues<T>> MakeValues(const SequenceRequest& request) {
  return std::make_unique<LocalAlignmentValues<T>>(request);
}

std::size_t Bytes(const SequenceRequest& request) {
  return Offset(request.left.size() + (request.is_training ? 0 : request.right.size())) * sizeof(double);
}

// The same by alignments of ever more pairs of letters: what begins at (i, j) is the pair and all that may
// follow.
double PlainSum(std::span<const int> x, std::span<const int> z, const KernelParameters& parameters) {
  const Factors factors(parameters);
  std::vector<double> gap = {1};  // by its letters
  while (gap.size() < x.size() + z.size())
    gap.push_back(gap.size() == 1 ? factors.open : factors.extend * gap.back());
  std::vector<double> from(x.size() * z.size(), 0.0);
  double sum = 1;
  for (std::size_t i = x.size(); i-- > 0;) {
    for (std::size_t j = z.size(); j-- > 0;) {
      if (x[i] < 0 || z[j] < 0) continue;
      double rest = 1;
      for (std::size_t a = i + 1; a < x.size(); ++a) {
        for (std::size_t b = j + 1; b < z.size(); ++b)
          rest += gap[a - i - 1] * gap[b - j - 1] * from[a * z.size() + b];
      }
      from[i * z.size() + j] = (x[i] == z[j] ? factors.equal : factors.different) * rest;
      sum += from[i * z.size() + j];
    }
  }
  return sum;
}

double Plain(std::span<const int> x, std::span<const int> z, const KernelParameters& parameters,
             const Region& region, std::string_view) {
  const auto part = [&](std::span<const int> letters) {
    const LetterRange range = Resolve(region, static_cast<Index>(letters.size()));
    return letters.subspan(Offset(range.begin), Offset(range.end - range.begin));
  };
  const std::span<const int> of_x = part(x), of_z = part(z);
  return PlainSum(of_x, of_z, parameters) /
         std::sqrt(PlainSum(of_x, of_x, parameters) * PlainSum(of_z, of_z, parameters));
}

constexpr SequenceKernel kAlignments = {.needs_equal_lengths = false,
                                        .values_f32 = MakeValues<float>,
                                        .values_f64 = MakeValues<double>,
                                        .bytes = Bytes,
                                        .plain = Plain};

constexpr BaseQuantity kAlignmentQuantity = {.name = "sum over local alignments",
                                             .source = BaseQuantity::Source::kSequences,
                                             .sequences = &kAlignments};

constexpr ParameterRule kRules[] = {
    {.name = "beta", .sentence = "how much scores count", .initial = "0.5", .least = 0, .most = 100},
    {.name = "open",
     .sentence = "what the first letter of a gap costs",
     .initial = "3",
     .least = 0,
     .excludes_least = false},
    {.name = "extend",
     .sentence = "what each further letter of a gap costs",
     .initial = "1",
     .least = 0,
     .excludes_least = false},
};

}  // namespace

constinit const KernelKind kLocalAlignment = {
    .name = "local_alignment",
    .class_name = "LocalAlignment",
    .sentence =
        "sequences: sum over local alignments of exp(beta score), 1 for x = z; equal letters score 1, others "
        "-1, gaps -open - extend (length - 1)",
    .base = &kAlignmentQuantity,
    .parameters = kRules,
};

}  // namespace kweave
