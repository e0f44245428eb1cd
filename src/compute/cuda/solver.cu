// Solves     the dual problem (compute/dual_solver.h) on a matrix that lies on the device as samples and
//            functions.
// Method     decomposition, as qp/block.h: a step takes a set of variables, solves the problem over them (one
//            block, pairs by second-order working sets), and adds the rows of those that moved to the
//            gradient of all. Variables are drawn by their violation times a random number, half of them of
//            those that may grow; the free variables of the last set stay in the next, up to half of it, for
//            they move together. Rows are evaluated in the pass that adds them up, and never kept.
// Takes and  as DualSolver says. No step waits for the host, which looks at every few of them.
// returns
// Holds      beta within its bounds, exactly on them when it touches them; the gradient in float64, by kernel
//            values of T whose sums over a tile of rows are of T; the same steps in every run.
// Costs      a step: some passes over the variables, the matrix of the set, and the pairs of all samples and
//            those that moved. Set^2 values of memory.
#include <algorithm>
#include <cmath>

#include "compute/cuda/matrix.cuh"

namespace kweave::cuda {
namespace {

constexpr int kStepsPerLook = 4;  // of the host: a look costs some 20 us, a step some 500
// After a batch beta goes to the host, which for many variables costs as much as a step.
constexpr int kStepsPerBatch = 16;
constexpr Index kManyVariables = 20'000;
// The violation within a set is brought down to this share of the violation of all: to make more of it costs
// steps on variables that the next set moves again.
constexpr double kShareLeftInSet = 0.3;
constexpr double kLeastCurvature = 1e-12;  // of a pair, relative to the largest diagonal, as on the CPU
// So many looks in which the objective fell by less than this share of it: the numbers no longer change.
constexpr int kLooksBeforeStall = 64;
constexpr double kNoDecrease = 1e-14;

template <class T>
class CudaSolver final : public DualSolver {
 public:
  CudaSolver(const CudaMatrix<T>& matrix, std::vector<BaseCombination<T>> parts,
             std::span<const double> diagonal, const DualProblem& problem, SolverMemory<T>& memory)
      : matrix_(matrix), parts_(std::move(parts)), problem_(problem), memory_(memory) {
    std::vector<double> with_curvature(diagonal.begin(), diagonal.end());
    for (std::size_t i = 0; i < problem.curvature.size(); ++i) with_curvature[i] += problem.curvature[i];
    const auto upload = [&](std::span<const double> values, DeviceArray<double>& array) -> const double* {
      if (values.empty()) return nullptr;
      array.Upload(values.data(), values.size(), stream());
      return array.get();
    };
    variables_.count = static_cast<int>(problem.size());
    variables_.lower = upload(problem.lower, memory.lower);
    variables_.upper = upload(problem.upper, memory.upper);
    variables_.diagonal = upload(with_curvature, memory.diagonal);
    variables_.kink = upload(problem.kink, memory.kink);
    variables_.curvature = upload(problem.curvature, memory.curvature);
    Check(cudaStreamSynchronize(stream()), "take data");
    double largest = 0;
    for (const double value : with_curvature) {
      largest = std::max(largest, std::abs(value));
      is_finite_ = is_finite_ && std::isfinite(value);
    }
    variables_.least_curvature = std::max(kLeastCurvature * largest, 1e-300);
    splits_ = ChooseSplits(variables_.count, memory.most_in_set / TileShape<T>::kRows,
                           matrix.traits().multiprocessors);
    if (parts_.empty()) memory.workspace.matrix.Clear(memory.workspace.matrix.size(), stream());
    memory.partials.Resize(static_cast<std::size_t>(splits_) * problem.linear.size());
  }

  void Start(SolverState& state) override {
    state_ = &state;
    SetWorkspace<T>& workspace = memory_.workspace;
    memory_.beta.Upload(state.beta.data(), state.beta.size(), stream());
    memory_.gradient.Upload(state.gradient.data(), state.gradient.size(), stream());
    variables_.beta = memory_.beta.get();
    variables_.gradient = memory_.gradient.get();
    workspace.stamps.Clear(workspace.stamps.size(), stream());
    workspace.histogram.Clear(workspace.histogram.size(), stream());
    control_ = {};
    control_.round = 1;  // no variable is kept for it
    control_.most_in_set = memory_.most_in_set;
    workspace.control.Upload(&control_, 1, stream());
    FinishGradient(variables_, workspace, nullptr, 0, stream());
    Check(cudaStreamSynchronize(stream()), "take data");
    first_objective_ = Objective();
    rows_before_ += rows_;
    rows_ = 0;
  }

  SolverProgress Advance(double tolerance, std::int64_t most_steps) override {
    control_.tolerance = tolerance;
    control_.most_steps = most_steps;
    control_.steps = 0;
    control_.first_round = control_.round;
    control_.rounds_between_ends = problem_.size() < kManyVariables ? kStepsPerLook : kStepsPerBatch;
    control_.share_left_in_set = kShareLeftInSet;
    control_.outcome = is_finite_ ? StepOutcome::kRunning : StepOutcome::kNotFinite;
    memory_.workspace.control.Upload(&control_, 1, stream());
    int quiet_looks = 0;
    while (control_.outcome == StepOutcome::kRunning) {
      const double before = control_.decrease;
      for (int step = 0; step < kStepsPerLook; ++step) Step();
      memory_.workspace.control.Download(&control_, 1, stream());
      const bool has_moved = control_.decrease - before > kNoDecrease * std::abs(objective());
      quiet_looks = has_moved ? 0 : quiet_looks + 1;
      if (quiet_looks == kLooksBeforeStall && control_.outcome == StepOutcome::kRunning)
        control_.outcome = StepOutcome::kStalled;
    }
    memory_.beta.Download(state_->beta.data(), state_->beta.size(), stream());
    state_->gradient_is_valid = false;
    rows_ = control_.rows;
    const double violation = std::max(control_.ends.max_low - control_.ends.min_up, 0.0);
    return {OutcomeOf(control_.outcome), control_.steps, rows_before_ + rows_, violation, objective()};
  }

  void CompleteGradient() override {
    if (control_.outcome == StepOutcome::kNotFinite) return;
    memory_.gradient.Download(state_->gradient.data(), state_->gradient.size(), stream());
    state_->gradient_is_valid = true;
  }

 private:
  static SolverOutcome OutcomeOf(StepOutcome outcome) {
    switch (outcome) {
      case StepOutcome::kConverged:
        return SolverOutcome::kConverged;
      case StepOutcome::kStepLimit:
        return SolverOutcome::kStepLimit;
      case StepOutcome::kNotFinite:
        return SolverOutcome::kNotFinite;
      default:
        return SolverOutcome::kStalled;
    }
  }
  cudaStream_t stream() const { return matrix_.stream(); }
  double objective() const { return first_objective_ - control_.decrease; }

  // Nothing here waits for the device.
  void Step() {
    SetWorkspace<T>& workspace = memory_.workspace;
    const int most = memory_.most_in_set;
    StepControl* const control = workspace.control.get();
    ChooseSet(variables_, workspace, stream());
    const TileRange of_set{workspace.set.get(), workspace.set.get(), most, most,
                           &control->set_size,  &control->set_size};
    const TileRange of_moved{workspace.moved.get(), nullptr,         most,
                             variables_.count,      &control->moved, nullptr};
    for (std::size_t p = 0; p < parts_.size(); ++p) {
      StoreRows(
          parts_[p].base->samples(), of_set, parts_[p].combination, workspace.matrix.get(), most, p > 0,
          {parts_[p].base->is_distance, (most + TileShape<T>::kRows - 1) / TileShape<T>::kRows, stream()});
    }
    SolveSet(variables_, workspace, most, stream());
    for (std::size_t p = 0; p < parts_.size(); ++p) {
      SumRows(parts_[p].base->samples(), of_moved, parts_[p].combination, workspace.changes.get(),
              memory_.partials.get(), p > 0, {parts_[p].base->is_distance, splits_, stream()});
    }
    FinishGradient(variables_, workspace, memory_.partials.get(), parts_.empty() ? 0 : splits_, stream());
  }

  double Objective() const {
    double sum = 0;
    for (std::size_t i = 0; i < state_->beta.size(); ++i) {
      const double beta = state_->beta[i];
      if (beta == 0) continue;
      sum += 0.5 * beta * (state_->gradient[i] + problem_.linear[i]);
      if (!problem_.kink.empty()) sum += problem_.kink[i] * std::abs(beta);
    }
    return sum;
  }

  const CudaMatrix<T>& matrix_;
  const std::vector<BaseCombination<T>> parts_;
  const DualProblem problem_;
  SolverMemory<T>& memory_;
  Variables variables_;
  SolverState* state_ = nullptr;
  StepControl control_;  // as on the device, between batches
  int splits_ = 1;
  bool is_finite_ = true;
  double first_objective_ = 0;
  std::int64_t rows_ = 0, rows_before_ = 0;
};

}  // namespace

template <class T>
std::unique_ptr<DualSolver> MakeCudaSolver(const CudaMatrix<T>& matrix, std::vector<BaseCombination<T>> parts,
                                           std::span<const double> diagonal, const DualProblem& problem,
                                           SolverMemory<T>& memory) {
  return std::make_unique<CudaSolver<T>>(matrix, std::move(parts), diagonal, problem, memory);
}

template std::unique_ptr<DualSolver> MakeCudaSolver(const CudaMatrix<float>&,
                                                    std::vector<BaseCombination<float>>,
                                                    std::span<const double>, const DualProblem&,
                                                    SolverMemory<float>&);
template std::unique_ptr<DualSolver> MakeCudaSolver(const CudaMatrix<double>&,
                                                    std::vector<BaseCombination<double>>,
                                                    std::span<const double>, const DualProblem&,
                                                    SolverMemory<double>&);

}  // namespace kweave::cuda
