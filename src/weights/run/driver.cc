#include "weights/run/driver.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "base/stopwatch.h"
#include "regularizer/lp_norm.h"

namespace kweave {

namespace {

// Relative inner gaps of the first solve: coarse where theta is a guess, finer where it comes from another
// run, whose gap is some 1e-2.
constexpr double kFirstInnerGap = 0.02, kFirstInnerGapFromStart = 0.002;
// Of the outer gap, wanted of an inner one: the solve's error then is no more than a twentieth of what a move
// is judged by.
constexpr double kInnerShare = 0.05;
// Factor on that for every solve without clear progress, up to this many times: 0.3^5 makes a solve 400 times
// as precise.
constexpr double kMorePrecise = 0.3;
constexpr int kMostMorePrecise = 5;
// Moves inside a solve are cheap, so they come early: at this share of the outer gap, from this gap on, and
// each at no less than this share of the last one's, so that the machine follows theta.
constexpr double kShareInside = 0.3, kFirstGapInside = 0.5, kFallInside = 0.4;
// Relative: what float64 still resolves in sums over thousands of samples.
constexpr double kLeastInnerGap = 1e-11;
// Of the aimed gap: a quarter of it leaves the rest to theta, and with one theta only the solve counts.
constexpr double kInnerShareOfAim = 0.25, kOnlyShareOfAim = 0.9;
constexpr double kDominatingShare =
    0.3;  // of the outer gap, above which a solve is repeated before theta moves
// Of the method's own first theta, mixed into one from another run: closed forms multiply, and could not
// leave zero.
constexpr double kColdShareOfStart = 0.01;
// A kernel of little weight hardly tells one beta of a solve from another, but their bounds differ: without
// clear progress the method's own beta is the better start.
constexpr int kSolvesBeforeRestart = 2;
// Where single precision limits the gap more solves do not help: after this many the kernels are evaluated in
// double precision, or the run has stalled.
constexpr int kSolvesWithoutDigits = 6;
constexpr double kGapAboveFloats = 1e-3;  // relative: above it single precision is not the limit
// A small gap can hide weights that never moved, where losses outweigh the norm of the function: the first
// theta is no answer before it was compared with this many others, or with a better one.
constexpr std::int64_t kMovesThatTell = 3;
// Dual points kept for what they say of the weights: sets of more hardly shrink, and each costs a certificate
// and a vector over the samples, of so many bytes in all.
constexpr std::size_t kMostKeptPoints = 16, kMostKeptBytes = std::size_t{128} << 20;
constexpr std::int64_t kDefaultMaxIterations = 5000;  // beyond any run that converged; a guard, not a tuning

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
      is_interleaved_(options.driver == DriverKind::kInterleaved),
      has_start_(!start.empty() || options.start != nullptr),
      most_moves_(options.max_iterations > 0 ? options.max_iterations : kDefaultMaxIterations),
      theta_(static_cast<std::size_t>(gram.working->kernels())),
      account_(options.target_gap, control, machine.risk() != nullptr ? machine.risk()->least_size : 0),
      best_dual_beta_(machine.FeasibleStart()),
      wanted_inside_(kFirstGapInside) {
  if (method.mixes_betas && BetaMixture::Helps(regularizer)) mixture_.emplace(regularizer);
  machine_.UseGram(*gram.working, is_float_);
  method_->Begin(theta_);
  if (!start.empty()) theta_ = start;
  if (options.start != nullptr) StartFrom(*options.start);
  best_.theta = theta_;
  best_.beta = best_dual_beta_;
  NoteStart();
  learned_.method = method.name;
  learned_.driver = is_interleaved_ ? "interleaved" : "wrapper";
}

// A weight of zero would stay zero under some methods, so every kernel keeps a little. Where all have that
// much, theta stays as it is, and outputs found at it hold.
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
  if (account_.relative_gap() <= account_.aim() || NeedsAnotherSolve() || learned_.iterations == most_moves_)
    return {};
  ScopedSeconds seconds(inside_weight_seconds_);
  Move(/*is_inside=*/true);
  if (account_.relative_gap() <= account_.aim()) return {};
  std::copy(theta_.begin(), theta_.end(), theta.begin());
  return WantedInnerGap();
}

// A solve repeated at the same theta replaces its row.
void Driver::Account(const Evaluation& at, bool is_inside) {
  last_ = at;
  if (account_.LowerPrimal(last_.primal)) {
    best_ = last_;
    moves_before_best_ = learned_.iterations;
    is_certificate_current_ = false;
  }
  if (options_.keeps_cuts) KeepDualPoint();
  NoteDual(last_.beta, last_.dual);
  const bool is_repeated = !std::exchange(has_moved_, false);
  const bool was_inside = is_repeated && account_.history().back().inside_solve;
  account_.Record({.solves = machine_.work().solves,
                   .inside_solve = is_inside || was_inside,
                   .fallbacks = method_->fallbacks()},
                  learned_.iterations, is_repeated);
  if (!account_.NotesProgress() && (is_inside || !is_interleaved_)) account_.CountStep();
}

void Driver::NoteDual(const std::vector<double>& beta, double bound) {
  if (!account_.RaiseDual(bound)) return;
  best_dual_beta_ = beta;
  is_certificate_current_ = false;
}

// A bound that was certified for the same problem holds whatever the kernels of the solves.
void Driver::NoteStart() {
  if (options_.start != nullptr && !options_.start->dual_beta.empty())
    NoteDual(options_.start->dual_beta, options_.start->dual);
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

void Driver::KeepDualPoint() {
  kept_betas_.push_back(last_.beta);
  const std::size_t bytes = std::max<std::size_t>(last_.beta.size() * sizeof(double), 1);
  const std::size_t most = std::clamp<std::size_t>(kMostKeptBytes / bytes, 1, kMostKeptPoints);
  while (kept_betas_.size() > most) kept_betas_.pop_front();
}

void Driver::CertifyKeptPoints() {
  ScopedSeconds seconds(learned_.certificate_seconds);
  for (const std::vector<double>& beta : kept_betas_) {
    if (control_.ShouldStop()) return;
    Certificate certificate = machine_.Certify(gram_.exact(), best_.theta, beta, beta);
    if (!std::isfinite(certificate.gap)) continue;
    for (WeightCut& cut : certificate.cuts) learned_.certificate.cuts.push_back(std::move(cut));
  }
}

// The theta of a warm start has been compared already.
bool Driver::HasMovedEnough() const {
  if (options_.start != nullptr || theta_.size() == 1 || IsUniformSum(regularizer_)) return true;
  return moves_before_best_ > 0 || learned_.iterations > std::min(kMovesThatTell, most_moves_ - 1);
}

// Asks the certificate when the estimates are good enough. Where it disagrees, the kernels of the solves were
// not precise enough, or the solves were not.
bool Driver::IsCertified() {
  if (!account_.IsWorthCertifying() || !HasMovedEnough()) return false;
  if (!options_.certifies) return true;
  CertifyBest();
  if (learned_.certificate.relative_gap <= options_.target_gap) return true;
  account_.NoteRefusal();
  if (!UseExactKernels()) account_.LowerAim();
  return false;
}

// Relative. Where nothing but the solve can be wrong, it is made once and for all. Inside a solve the first
// moves come after a few steps, when they cost next to nothing.
double Driver::WantedInnerGap() const {
  if (method_->inner_gap() > 0) return std::min(method_->inner_gap(), kInnerShare * account_.aim());
  // A maximum norm asks for the largest part, which errs by the root of what the sum of all errs.
  if (!regularizer_.is_minimized() && !regularizer_.is_dual_smooth()) {
    const double gap =
        std::isfinite(account_.primal()) ? std::max(account_.relative_gap(), account_.aim()) : 1;
    return std::max(kInnerShare * gap * gap, kLeastInnerGap);
  }
  const double least = kInnerShareOfAim * account_.aim();
  if (theta_.size() == 1 || IsUniformSum(regularizer_)) return kOnlyShareOfAim * account_.aim();
  if (!is_interleaved_ && !std::isfinite(account_.primal()))
    return std::max(has_start_ ? kFirstInnerGapFromStart : kFirstInnerGap, least);
  const double wanted =
      is_interleaved_ ? wanted_inside_ : kInnerShare * method_->hoped_rate() * account_.relative_gap();
  const int waited = std::min(account_.steps_since_progress(), kMostMorePrecise);
  if (!method_->needs_precision() || (is_interleaved_ && waited == 0)) return std::max(wanted, least);
  return std::max(wanted * std::pow(kMorePrecise, waited),
                  regularizer_.is_dual_smooth() ? least : kLeastInnerGap);
}

// The solve hides the effect of theta, or was made with kernels that are no longer in use.
bool Driver::IsSolveTooCoarse() const {
  if (!std::isfinite(account_.primal())) return true;
  if (last_.is_precision_used_up) return false;
  return last_.relative_inner_gap() > kWantedSlack * WantedInnerGap() &&
         last_.inner_gap() > kDominatingShare * (last_.primal - account_.dual());
}

bool Driver::IsStuck() {
  if (account_.HasGivenUp()) return true;
  if (!std::isfinite(last_.primal)) return !UseExactKernels();  // single precision overflows first
  const bool is_precision_missing =
      last_.is_precision_used_up && last_.inner_gap() > kInnerShare * account_.gap();
  if (is_precision_missing && UseExactKernels()) return false;
  const int float_patience =
      account_.relative_gap() > kGapAboveFloats ? method_->patience() : kSolvesWithoutDigits;
  if (account_.steps_since_progress() >= float_patience && UseExactKernels()) return false;
  return account_.steps_since_progress() >=
         (is_precision_missing ? kSolvesWithoutDigits : method_->patience());
}

// What only happens between two solves: other kernels, and another beta to start from.
bool Driver::NeedsAnotherSolve() const {
  return account_.steps_since_progress() > kSolvesBeforeRestart || !std::isfinite(last_.primal);
}

// Bounds found with the working kernels may be wrong in their last digits: they are found again.
bool Driver::UseExactKernels() {
  if (!is_float_) return false;
  is_float_ = false;
  if (!std::isfinite(last_.primal)) machine_.StartFrom(best_.beta);  // which is finite
  machine_.UseGram(gram_.precise ? gram_.precise() : gram_.exact(), false);
  theta_ = best_.theta;
  account_.Forget();
  NoteStart();
  return true;
}

void Driver::Move(bool is_inside) {
  ScopedSeconds seconds(learned_.weight_seconds);
  const RunState state{
      .relative_gap = account_.relative_gap(), .target_gap = account_.aim(), .has_start = has_start_};
  if (mixture_) mixture_->Add(last_, machine_, state);
  method_->Move(last_, machine_, state, theta_);
  if (const DualPoint* point = mixture_ ? mixture_->best() : method_->dual_point()) {
    NoteDual(point->beta, point->bound);
    if (!is_inside && account_.steps_since_progress() >= kSolvesBeforeRestart)
      machine_.StartFrom(point->beta);
  }
  const double share = account_.steps_since_progress() > 0 ? kInnerShare : kShareInside;
  wanted_inside_ = std::max(share * account_.relative_gap(), kFallInside * wanted_inside_);
  ++learned_.iterations;
  has_moved_ = true;
}

// What is known of the reason, in a sentence.
std::string_view Driver::CauseOfStall() const {
  if (account_.relative_gap() <= options_.target_gap) {
    return "rounding keeps the bounds apart that the solves brought together: kernel values follow from "
           "differences of much larger numbers; scale the features, or normalise the kernels";
  }
  if (last_.is_precision_used_up && last_.inner_gap() > kInnerShare * account_.gap()) {
    if (machine_.risk() == nullptr && !machine_.work().tried_dense) {
      return "steps on the outputs of all classes at once get nowhere: for this cost the kernel matrix is "
             "too "
             "badly conditioned; lower the cost, scale the features, or train one machine per class";
    }
    return "double precision is not enough to train the machine to this gap: for this cost its kernel matrix "
           "is too badly conditioned; lower the cost, scale the features, or normalise the kernels";
  }
  return {};
}

Learned Driver::Finish(Status status) {
  if (!options_.certifies) {
    learned_.certificate.primal = account_.primal();
    learned_.certificate.dual = account_.dual();
    learned_.certificate.gap = account_.gap();
    learned_.certificate.relative_gap = account_.relative_gap();
    learned_.certificate.quadratics = best_.quadratics;
  } else if (status != Status::kConverged) {
    CertifyBest();
    if (learned_.certificate.relative_gap <= options_.target_gap) status = Status::kConverged;
  }
  if (options_.keeps_cuts && options_.certifies) CertifyKeptPoints();
  learned_.status = status;
  if (status == Status::kStalled) learned_.stalled_by = CauseOfStall();
  learned_.history = std::move(account_.history());
  learned_.theta = best_.theta;
  learned_.beta = best_.beta;
  for (double& value : learned_.beta) value *= learned_.certificate.scale;
  // A certificate of one vector takes half the time of two.
  const bool serves_both = !options_.certifies && account_.RelativeGapTo(best_.dual) <= account_.aim();
  learned_.dual_beta = serves_both ? best_.beta : best_dual_beta_;
  learned_.solves = machine_.work().solves;
  learned_.solver = machine_.work().solver;
  learned_.solve_seconds = machine_.work().seconds - inside_weight_seconds_;
  return std::move(learned_);
}

}  // namespace kweave
