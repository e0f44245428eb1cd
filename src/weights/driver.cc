#include "weights/driver.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "base/stopwatch.h"
#include "regularizer/lp_norm.h"

namespace kweave {

namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kFirstInnerGap = 0.02;
constexpr double kFirstInnerGapFromStart = 0.002;
constexpr double kInnerShare = 0.05;  // of the outer gap, wanted of an inner gap
constexpr double kMorePrecise = 0.3;  // factor on it for every solve without clear progress
constexpr int kMostMorePrecise = 5;   // such solves that count
constexpr double kShareInside = 0.3;  // the same for moves inside a solve
constexpr double kFirstGapInside = 0.5;
constexpr double kFallInside = 0.4;  // of the wanted gap from one move to the next, at most
constexpr double kLeastInnerGap = 1e-11;
constexpr double kInnerShareOfAim = 0.25;  // of the aimed gap: more precision than that is never needed
constexpr double kOnlyShareOfAim = 0.9;
constexpr double kDominatingShare = 0.3;  // of the outer gap, above which a solve is repeated
constexpr double kAimBelowTarget = 0.9;   // the certificate adds its own small terms
constexpr double kColdShareOfStart = 0.01;
constexpr int kMaxRefusals = 4;
constexpr double kClearProgress = 0.9;  // factor on the gap
// A kernel of little weight hardly tells one beta of a solve from another, but their bounds differ: without clear
// progress the method's own beta is the better start.
constexpr int kSolvesBeforeRestart = 2;
constexpr int kFloatSolvesWithoutProgress = 6;
constexpr double kGapAboveFloats = 1e-3;  // relative: what is left of it is not for want of digits
constexpr int kExhaustedSolvesWithoutProgress = 6;
constexpr std::int64_t kDefaultMaxIterations = 5000;

// theta[m] >= share * least[m] for all m.
bool AllAtLeast(std::span<const double> theta, double share, std::span<const double> least) {
  for (std::size_t m = 0; m < theta.size(); ++m) {
    if (!(theta[m] >= share * least[m])) return false;
  }
  return true;
}

}  // namespace

Driver::Driver(const GramPair& gram, Machine& machine, const Regularizer& regularizer,
               const LearnOptions& options, const MethodRecord& method, const std::vector<double>& start,
               RunControl& control)
    : gram_(gram),
      options_(options),
      control_(control),
      machine_(machine),
      regularizer_(regularizer),
      method_(method.make(regularizer)),
      is_float_(gram.working_is_float),
      is_interleaved_(options.driver == "interleaved"),
      has_start_(!start.empty() || options.start != nullptr),
      most_moves_(options.max_iterations > 0 ? options.max_iterations : kDefaultMaxIterations),
      theta_(static_cast<std::size_t>(gram.working->kernels())),
      best_dual_(-kInfinity),
      best_dual_beta_(machine.FeasibleStart()),
      aim_(kAimBelowTarget * options.target_gap),
      milestone_(kInfinity),
      wanted_inside_(kFirstGapInside) {
  machine_.UseGram(*gram.working, is_float_);
  method_->Begin(theta_);
  if (!start.empty()) theta_ = start;
  if (options.start != nullptr) StartFrom(*options.start);
  best_.theta = theta_;
  best_.beta = best_dual_beta_;
  best_.primal = kInfinity;
  learned_.method = method.name;
  learned_.driver = is_interleaved_ ? "interleaved" : "wrapper";
}

// A weight of zero would stay zero under some methods, so every kernel keeps a little. Where all have that much, theta stays
// as it is, and outputs found at it hold.
void Driver::StartFrom(const WarmStart& start) {
  std::vector<double> theta = start.theta;
  const LpNorm* norm = IsUniformSum(regularizer_) ? nullptr : regularizer_.lp_norm();
  if (norm != nullptr && !start.outputs.empty() && AllAtLeast(theta, kColdShareOfStart, theta_)) {
    norm->Normalize(theta);
    theta_ = std::move(theta);
    machine_.StartFrom(start.beta, start.outputs);
    return;
  }
  machine_.StartFrom(start.beta);
  if (IsUniformSum(regularizer_)) return;
  if (norm != nullptr) norm->Normalize(theta);
  if (!(*std::max_element(theta.begin(), theta.end()) > 0)) return;
  for (std::size_t m = 0; m < theta.size(); ++m) {
    theta_[m] = (1 - kColdShareOfStart) * theta[m] + kColdShareOfStart * theta_[m];
  }
  regularizer_.MakeFeasible(theta_);
}

Learned Driver::Run() {
  for (;;) {
    Solve();
    if (control_.ShouldStop()) return Finish(*control_.stop_reason());
    if (IsCertified()) return Finish(Status::kConverged);
    if (IsStuck()) return Finish(Status::kStalled);
    if (IsSolveTooCoarse()) continue;
    if (learned_.iterations == most_moves_) return Finish(Status::kIterationLimit);
    Move(/*is_inside=*/false);
    if (IsCertified()) return Finish(Status::kConverged);
  }
}

void Driver::Solve() {
  Account(machine_.Solve(theta_, WantedInnerGap(), is_interleaved_ ? this : nullptr), /*is_inside=*/false);
}

std::optional<double> Driver::MoveInside(const Evaluation& at, std::span<double> theta) {
  Account(at, /*is_inside=*/true);
  if (relative_gap() <= aim_ || NeedsAnotherSolve() || learned_.iterations == most_moves_) return {};
  ScopedSeconds seconds(inside_weight_seconds_);
  Move(/*is_inside=*/true);
  if (relative_gap() <= aim_) return {};
  std::copy(theta_.begin(), theta_.end(), theta.begin());
  return WantedInnerGap();
}

void Driver::Account(const Evaluation& at, bool is_inside) {
  last_ = at;
  if (last_.primal < best_.primal) {
    best_ = last_;
    is_certificate_current_ = false;
  }
  NoteDual(last_.beta, last_.dual);
  RecordHistory(is_inside);
  if (gap() <= kClearProgress * milestone_) {
    milestone_ = gap();
    solves_since_milestone_ = 0;
  } else if (is_inside || !is_interleaved_) {
    ++solves_since_milestone_;
  }
  control_.Report({.relative_gap = relative_gap(),
                   .target_gap = options_.target_gap,
                   .iterations = learned_.iterations,
                   .solves = machine_.solves(),
                   .phase = "solve"});
}

void Driver::NoteDual(const std::vector<double>& beta, double bound) {
  if (!(bound > best_dual_)) return;
  best_dual_ = bound;
  best_dual_beta_ = beta;
  is_certificate_current_ = false;
}

// A solve repeated at the same theta replaces its row.
void Driver::RecordHistory(bool is_inside) {
  if (has_moved_) learned_.history.emplace_back();
  is_inside = is_inside || (!has_moved_ && learned_.history.back().inside_solve);
  has_moved_ = false;
  learned_.history.back() = {.seconds = control_.Seconds(),
                             .primal = best_.primal,
                             .dual = best_dual_,
                             .relative_gap = relative_gap(),
                             .solves = machine_.solves(),
                             .inside_solve = is_inside,
                             .fallbacks = method_->fallbacks()};
}

// Once for each best: after a stop it is the only pass over the kernels that is left.
void Driver::CertifyBest() {
  if (is_certificate_current_) return;
  is_certificate_current_ = true;
  ScopedSeconds seconds(learned_.certificate_seconds);
  // The certificate needs memory of its own; where it disagrees, the run goes on without the working kernels.
  machine_.ReleaseRows();
  if (is_float_) gram_.working->ReleaseCopies();
  learned_.certificate = machine_.Certify(gram_.exact(), best_.theta, best_.beta, best_dual_beta_);
}

// Asks the certificate when the estimates are good enough. Where it disagrees, the kernels of the solves were
// not precise enough, or the solves were not.
bool Driver::IsCertified() {
  if (!(relative_gap() <= aim_) || refusals_ > kMaxRefusals) return false;
  if (!options_.certifies) return true;
  CertifyBest();
  if (learned_.certificate.relative_gap <= options_.target_gap) return true;
  ++refusals_;
  if (!UseExactKernels()) aim_ *= 0.3;
  return false;
}

// Relative. Where nothing but the solve can be wrong, it is made once and for all. Inside a solve the first moves come
// after a few steps, when they cost next to nothing.
double Driver::WantedInnerGap() const {
  if (method_->inner_gap() > 0) return std::min(method_->inner_gap(), kInnerShare * aim_);
  // A maximum norm asks for the largest part, which errs by the root of what the sum of all errs.
  if (!regularizer_.is_minimized() && !regularizer_.is_dual_smooth()) {
    const double gap = std::isfinite(best_.primal) ? std::max(relative_gap(), aim_) : 1;
    return std::max(kInnerShare * gap * gap, kLeastInnerGap);
  }
  const double least = kInnerShareOfAim * aim_;
  if (theta_.size() == 1 || IsUniformSum(regularizer_)) return kOnlyShareOfAim * aim_;
  if (!is_interleaved_ && !std::isfinite(best_.primal))
    return std::max(has_start_ ? kFirstInnerGapFromStart : kFirstInnerGap, least);
  const double wanted =
      is_interleaved_ ? wanted_inside_ : kInnerShare * method_->hoped_rate() * relative_gap();
  const int waited = std::min(solves_since_milestone_, kMostMorePrecise);
  if (!method_->needs_precision() || (is_interleaved_ && waited == 0)) return std::max(wanted, least);
  return std::max(wanted * std::pow(kMorePrecise, waited),
                  regularizer_.is_dual_smooth() ? least : kLeastInnerGap);
}

// The solve hides the effect of theta, or was made with kernels that are no longer in use.
bool Driver::IsSolveTooCoarse() const {
  if (!std::isfinite(best_.primal)) return true;
  if (last_.is_precision_used_up) return false;
  return last_.inner_gap() > 1.5 * WantedInnerGap() * std::abs(last_.primal) &&
         last_.inner_gap() > kDominatingShare * (last_.primal - best_dual_);
}

bool Driver::IsStuck() {
  if (!std::isfinite(last_.primal) || refusals_ > kMaxRefusals) return true;
  const bool is_precision_missing = last_.is_precision_used_up && last_.inner_gap() > kInnerShare * gap();
  if (is_precision_missing && UseExactKernels()) return false;
  const int float_patience =
      relative_gap() > kGapAboveFloats ? method_->patience() : kFloatSolvesWithoutProgress;
  if (solves_since_milestone_ >= float_patience && UseExactKernels()) return false;
  return solves_since_milestone_ >=
         (is_precision_missing ? kExhaustedSolvesWithoutProgress : method_->patience());
}

// What only happens between two solves: other kernels, and another beta to start from.
bool Driver::NeedsAnotherSolve() const {
  return solves_since_milestone_ > kSolvesBeforeRestart || !std::isfinite(last_.primal);
}

// Bounds found with the working kernels may be wrong in their last digits: they are found again.
bool Driver::UseExactKernels() {
  if (!is_float_) return false;
  is_float_ = false;
  machine_.UseGram(gram_.precise ? gram_.precise() : gram_.exact(), false);
  theta_ = best_.theta;
  best_.primal = milestone_ = kInfinity;
  best_dual_ = -kInfinity;
  solves_since_milestone_ = 0;
  return true;
}

void Driver::Move(bool is_inside) {
  ScopedSeconds seconds(learned_.weight_seconds);
  const RunState state{.relative_gap = relative_gap(), .target_gap = aim_, .has_start = has_start_};
  method_->Move(last_, machine_, state, theta_);
  if (const DualPoint* point = method_->dual_point()) {
    NoteDual(point->beta, point->bound);
    if (!is_inside && solves_since_milestone_ >= kSolvesBeforeRestart) machine_.StartFrom(point->beta);
  }
  const double share = solves_since_milestone_ > 0 ? kInnerShare : kShareInside;
  wanted_inside_ = std::max(share * relative_gap(), kFallInside * wanted_inside_);
  ++learned_.iterations;
  has_moved_ = true;
}

Learned Driver::Finish(Status status) {
  if (!options_.certifies) {
    learned_.certificate.primal = best_.primal;
    learned_.certificate.dual = best_dual_;
    learned_.certificate.gap = gap();
    learned_.certificate.relative_gap = relative_gap();
    learned_.certificate.quadratics = best_.quadratics;
  } else if (status != Status::kConverged) {
    CertifyBest();
    if (learned_.certificate.relative_gap <= options_.target_gap) status = Status::kConverged;
  }
  learned_.status = status;
  learned_.theta = best_.theta;
  learned_.beta = best_.beta;
  for (double& value : learned_.beta) value *= learned_.certificate.scale;
  // Whoever certifies needs half the time for one vector.
  const bool serves_both = !options_.certifies && RelativeGap(best_.primal, best_.dual) <= aim_;
  learned_.dual_beta = serves_both ? best_.beta : best_dual_beta_;
  learned_.solves = machine_.solves();
  learned_.solver = machine_.solver();
  learned_.solve_seconds = machine_.solve_seconds() - inside_weight_seconds_;
  return std::move(learned_);
}

}  // namespace kweave
