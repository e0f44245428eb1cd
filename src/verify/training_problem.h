// The problem that a model claims to have solved, put together from the model file and the data of training.
#ifndef KWEAVE_VERIFY_TRAINING_PROBLEM_H_
#define KWEAVE_VERIFY_TRAINING_PROBLEM_H_

#include <cmath>
#include <functional>
#include <limits>
#include <numeric>
#include <span>
#include <string>
#include <vector>

#include "base/run_control.h"
#include "kweave/verify.h"
#include "model/content.h"
#include "verify/plain_kernels.h"
#include "verify/plain_losses.h"
#include "verify/plain_regularizers.h"

namespace kweave::verify {

using Vector = std::vector<double>;

/// The last place of a number.
inline constexpr double kEpsilon = std::numeric_limits<double>::epsilon();
/// Relative, of a kernel value against the largest: what two ways to compute it in double precision differ
/// by. Measured over the kernels of the tests: below 1e-13. Sums over features add their number times the
/// last place.
inline constexpr double kValueRounding = 1e-12;
/// What is left of that with the digits that a long double has beyond a double.
inline constexpr double kExtendedShare =
    static_cast<double>(std::numeric_limits<long double>::epsilon()) / kEpsilon;
/// Relative: what a dual point or weights may be outside of their set by rounding.
inline constexpr double kFeasible = 1e-9;

inline double Sum(std::span<const double> x) { return std::accumulate(x.begin(), x.end(), 0.0); }
inline double Dot(std::span<const double> a, std::span<const double> b) {
  return std::inner_product(a.begin(), a.end(), b.begin(), 0.0);
}
/// The sum of magnitudes, and the largest.
inline double Magnitude(std::span<const double> x) {
  return std::accumulate(x.begin(), x.end(), 0.0,
                         [](double sum, double value) { return sum + std::abs(value); });
}
inline double Largest(std::span<const double> x) {
  return std::accumulate(x.begin(), x.end(), 0.0,
                         [](double top, double value) { return std::max(top, std::abs(value)); });
}

struct TrainingProblem {
  /// Throws Error(kData) where the data cannot be that of training; notes in `found` where it is not what the
  /// model says.
  TrainingProblem(const ModelContent& model, const Dataset& data, const Context& context,
                  bool with_long_doubles);

  const ModelContent& content;
  const ModelProblem& problem;
  RunControl control;
  const PlainLoss loss;
  const bool is_extended;  ///< kernel values and their sums are long doubles
  Verification found;
  bool lacks_digits = false;  ///< rounding may have done more than the gap is

  Index n = 0;                              ///< samples of training
  std::vector<Index> indices;               ///< in the data
  Numbering numbering;                      ///< of the data
  Vector costs, targets;                    ///< C_i; y_i of one machine
  std::vector<std::vector<Index>> classes;  ///< of every sample
  std::vector<View> views;                  ///< of these samples
  KernelSet all, kernels;                   ///< by the specifications; those on samples that the problem has
  std::vector<Index> active;                ///< of the model's kernels, among `kernels`
  std::vector<Index> pair_kernels;          ///< on pairs of sample and class, among `all`
  Vector scale;         ///< factors of the normalisation: of `kernels`, then `pair_kernels`
  Vector magnitudes;    ///< of the values of every kernel: what their rounding is relative to
  Vector diagonals;     ///< mean k_m(x,x) of every kernel, known after Multiply
  double rounding = 0;  ///< relative to these
  int wrong_normalizations = 0;

  /// A vector over stored samples as one over those of training; over the model's kernels as one over all.
  Vector OverSamples(const SparseVector& of_stored) const;
  Vector OverKernels(std::span<const double> of_active) const;
  /// What the bias adds to the primal: 1 for the threshold of a one-class machine.
  double bias_slope() const { return content.task == Task::kOneClass && problem.has_bias ? 1 : 0; }
  /// The regulariser, with another exponent unless that is 0; of a penalty on the determinant the constraint.
  PlainRegularizer RegularizerFor(double exponent, std::size_t count) const;

  /// Calls use(m, products, magnitude) for every kernel on samples: products[v] = K_m vectors[v]; no value is
  /// computed from larger ones than the magnitude. Compares the normalisation with the model's.
  using Use = std::function<void(Index m, std::span<const Vector> products, double magnitude)>;
  void Multiply(std::span<const Vector> vectors, const Use& use);
  template <class Real>
  void CompareNormalization(Index m, PlainNormalization<Real>& fitted);
  /// Only the first is a failure: one says enough.
  void NameWrongNormalization(const std::string& kernel, double fitted, double stored);

  /// What the summary says of the whole.
  VerifiedClaim WholeClaim() const;
  /// Compares what was found with what is claimed. Gaps are relative to bounds of this size at least.
  void Conclude(VerifiedClaim claim, double least_size = std::numeric_limits<double>::min());

 private:
  void TakeSamples(const Dataset& data);
  void TransformFeatures(const Dataset& data);
  void TransformView(const FeatureTransform& transform, const Features& confounds, View& view);
  bool IsTransformed(std::span<const double> values, Index features, Index f, std::span<const Index> present,
                     const Features& confounds) const;
  void CountViews();
  void CompareSamples();
  Index Position(Index stored) const;
  std::vector<Index> ClassesOf(const std::string& label) const;
  void TakeLabels(const Labels& labels);
  void TakeKernels(const Dataset& data);
  Index CheckNumber(std::int32_t m) const;
  void CompareKernels(Index m, Index k);
  double FactorTolerance(double least_variance) const;
  template <class Real>
  void MultiplyBy(std::span<const Vector> vectors, const Use& use);
  void CheckLeftOut();
  double WidestView() const;
};

/// "machine 'a': ", or nothing where there is but one.
inline std::string Of(const std::string& name) { return name.empty() ? "" : "machine '" + name + "': "; }

/// The best lower bound along the ray to 0: max over s of losses(s) - term(s^2 q), s = 1 alone where 0 is not
/// feasible.
template <class Losses, class Term>
double BestDual(bool may_scale, const Losses& losses, const Term& term, std::span<const double> q) {
  const auto value_at = [&](double s) {
    Vector scaled(q.begin(), q.end());
    for (double& value : scaled) value *= s * s;
    return losses(s) - term(scaled);
  };
  return may_scale ? LargestOnInterval(0, 1, value_at) : value_at(1);
}

/// log det(K(theta) + ridge I), with the ridge of the regulariser; traces[m] = tr((K(theta) + ridge I)^-1
/// K_m).
double LogDeterminant(TrainingProblem& at, std::span<const double> theta, Vector& traces, double& rounding);
/// Computes the bounds of everything that the model learned and compares them with its claims.
void JudgeModel(TrainingProblem& at);

}  // namespace kweave::verify

#endif  // KWEAVE_VERIFY_TRAINING_PROBLEM_H_
