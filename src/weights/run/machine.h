// One machine on the learned kernel, as methods and driver see it: trained at a given theta, warm, and
// measured.
//
// Solves   J(theta) = max over feasible beta of L(beta) - 1/2 beta' K(theta) beta,
//          to a tolerance set per call.
// Method   that of weights/run/sample_machine.h: one output, one dual variable per sample.
// Takes    theta and a tolerance; returns an Evaluation: beta, q and the bounds that follow from them.
// Holds    beta stays feasible for every theta, so each solve starts where the last one ended.
// Costs    the solver's rows, and one expansion per solve; moving theta costs no pass over the kernels.
//
// Next on the main path: weights/run/sample_machine.h.
#ifndef KWEAVE_WEIGHTS_RUN_MACHINE_H_
#define KWEAVE_WEIGHTS_RUN_MACHINE_H_

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "certificate/certificate.h"
#include "gram/gram.h"
#include "loss/risk.h"

namespace kweave {

/// A solve within this factor of the gap wanted is as good as asked for: tolerances are estimates.
inline constexpr double kWantedSlack = 1.5;

/// What one solve found. The bounds are the solver's own estimates; only the certificate is binding.
struct Evaluation {
  std::vector<double> theta;
  std::vector<double> beta;
  std::vector<double> quadratics;
  double primal = 0;                  ///< P(theta, beta) >= J(theta) + r(theta)
  double inner_dual = 0;              ///< L - 1/2 theta' q + r(theta) <= J(theta) + r(theta)
  double dual = 0;                    ///< D(beta) <= the optimum
  double linear = 0;                  ///< L
  bool is_precision_used_up = false;  ///< the solver could not reach the gap asked for
  double least_size = 0;              ///< of the Risk

  /// How far beta is, at most, from the best one for this theta.
  double inner_gap() const { return primal - inner_dual; }
  double relative_inner_gap() const {
    return inner_gap() / std::max({std::abs(primal), least_size, std::numeric_limits<double>::min()});
  }
};

/// What solving cost a machine.
struct SolveWork {
  std::string_view solver = "none";  ///< that ran last
  std::int64_t solves = 0;
  double seconds = 0;
  bool tried_dense = false;  ///< joint machines: a second-order solver on the whole matrix
};

/// Moves theta inside a solve.
class ThetaMover {
 public:
  virtual ~ThetaMover() = default;
  /// Given what the solve found at its present theta, writes another one and returns the relative inner gap
  /// to reach there; or returns nothing, and the solve ends.
  virtual std::optional<double> MoveInside(const Evaluation& at, std::span<double> theta) = 0;
};

class Machine {
 public:
  virtual ~Machine() = default;

  /// Answers come from this Gram from now on; beta is kept.
  virtual void UseGram(Gram& gram, bool is_float) = 0;

  /// The next solve starts from this beta, made feasible, instead of that of the last one. Its outputs at the
  /// theta of that solve, where they are known, save an expansion.
  virtual void StartFrom(std::span<const double> beta, std::span<const double> outputs) = 0;
  void StartFrom(std::span<const double> beta) { StartFrom(beta, {}); }

  /// Until the inner gap is at most `relative_gap` of the primal; then the mover, if there is one, may move
  /// theta and the solve goes on. The answer is for the last theta.
  virtual Evaluation Solve(std::span<const double> theta, double relative_gap,
                           ThetaMover* mover = nullptr) = 0;

  /// Gives memory back that only the next solve would use.
  virtual void ReleaseRows() = 0;

  virtual Gram& gram() const = 0;
  /// Of the last solve's beta.
  virtual const Expansion& expansion() const = 0;
  /// L(beta), for feasible beta.
  virtual double Linear(std::span<const double> beta) const = 0;
  /// A feasible beta with few nonzero entries.
  virtual std::vector<double> FeasibleStart() const = 0;
  /// The bounds that an answer gives, from kernels that may be others than those of the solves.
  virtual Certificate Certify(Gram& gram, std::span<const double> theta, std::span<const double> beta,
                              std::span<const double> dual_beta) const = 0;
  /// The loss as a function of one output per sample; null where there are several.
  virtual const Risk* risk() const = 0;

  /// What solving cost so far.
  const SolveWork& work() const { return work_; }

 protected:
  SolveWork work_;
};

/// Whether a bound may be scaled down: only the betas of a one-class machine have a sum other than 0.
inline bool ZeroIsFeasible(const Machine& machine) {
  return machine.risk() == nullptr || machine.risk()->bias_slope == 0;
}

}  // namespace kweave

#endif  // KWEAVE_WEIGHTS_RUN_MACHINE_H_
