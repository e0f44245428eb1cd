#include "train/binary_problems.h"

#include <fmt/format.h>

#include <algorithm>
#include <mutex>
#include <optional>
#include <utility>

#include "base/stopwatch.h"
#include "base/threads.h"
#include "certificate/certificate.h"
#include "compute/cpu/blas_threads.h"
#include "train/objective.h"
#include "train/warm_start.h"
#include "weights/run/learn_common.h"
#include "weights/strategies/known_weights.h"
#include "weights/strategies/sample_screening.h"

namespace kweave {
namespace {

// Small machines poll at every loop, and the lock behind it is for all: less often than that, often enough
// for a key pressed.
constexpr double kSecondsBetweenPolls = 0.02;

// Where machine `k` starts, if the model to start from has the same machines.
std::optional<WarmStart> StartOf(const TrainingRun& run, std::span<const BinaryProblem> problems,
                                 std::size_t k) {
  if (run.start == nullptr) return std::nullopt;
  const ModelContent& content = run.start->content();
  if (content.machines.size() != problems.size() || content.classes != run.samples.classes) {
    return std::nullopt;
  }
  const ModelMachine& machine = content.machines[k];
  if (machine.output != problems[k].output || machine.against != problems[k].against) return std::nullopt;
  WarmStart start = MakeWarmStart(*run.start, run.samples, run.prepared, run.options, k);
  if (problems[k].rows.empty()) return start;
  std::vector<double> beta;
  for (Index i : problems[k].rows) beta.push_back(start.beta[i]);
  start.beta = std::move(beta);
  return start;
}

// Where a machine is trained: its kernels, its threads and who stops it.
struct Workplace {
  Grams& grams;
  ThreadPool& pool;
  std::size_t row_cache_bytes;
  RunControl& control;
  MemoryReserve* reserve = nullptr;
  bool certifies = true;
};

Learned LearnOne(const TrainingRun& run, const BinaryProblem& problem, const WarmStart* start,
                 const Workplace& at) {
  const Objective objective(problem.y, problem.upper, run.options);
  LearnOptions options = run.Learning(start);
  options.row_cache_bytes = at.row_cache_bytes;
  options.pool = &at.pool;
  options.reserve = at.reserve;
  options.certifies = at.certifies;
  const LearningProblem learning{objective.risk(), problem.regularizer};
  return LearnUntilKnown(
      *problem.regularizer, options, run.options.weights_tolerance,
      [&](const LearnOptions& own) {
        return problem.rows.empty() ? LearnScreened(at.grams.Pair(), learning, own, at.control)
                                    : LearnWeights(at.grams.Pair(), learning, own, at.control);
      },
      at.control);
}

// Says in reports which of the machines is learned. `learned` are those that are there, it or an earlier
// state of it among them or not; once no other is missing, the gap of the model is known.
RunControl::Stage MachineStage(const TrainingRun& run, std::span<const Learned> learned, std::size_t k,
                               std::size_t machines) {
  double largest = 0;
  std::size_t missing = machines;
  for (std::size_t other = 0; other < learned.size(); ++other) {
    if (other == k) continue;
    largest = std::max(largest, learned[other].certificate.relative_gap);
    --missing;
  }
  return {run.control, fmt::format("machine {} of {}", k + 1, machines),
          missing == 1 ? std::optional(largest) : std::nullopt};
}

// Learns the machine on the pool's threads.
Learned LearnAlone(const TrainingRun& run, const BinaryProblem& problem, const WarmStart* start,
                   KernelWork& work) {
  const Workplace here{*run.grams, run.pool, run.plan.row_cache_bytes, run.control};
  if (problem.rows.empty()) return LearnOne(run, problem, start, here);
  const std::shared_ptr<Grams> part = run.grams->Part(problem.rows, run.plan.base_cache_bytes, run.pool);
  Learned learned = LearnOne(run, problem, start, {*part, run.pool, run.plan.row_cache_bytes, run.control});
  work.Add(*part);
  return learned;
}

// A run within the run, for one thread: it stops when that one does.
Context ContextWithin(RunControl& control, std::mutex& mutex) {
  Context context;
  context.threads = 1;
  context.stop_requested = [&control, &mutex] {
    const std::lock_guard lock(mutex);
    control.Tick();
    return control.ShouldStop();
  };
  return context;
}

// Gathered base values of some of the samples, those of the machine or those of them that count: what is
// worth keeping beside the bases of all.
std::size_t GatheredBytes(const TrainingRun& run, const BinaryProblem& problem) {
  const std::size_t value_bytes = run.plan.use_float ? sizeof(float) : sizeof(double);
  const std::size_t rows = problem.rows.empty() ? run.samples.indices.size() / 2 : problem.rows.size();
  const std::size_t wanted = run.plan.bases * rows * rows * value_bytes;
  return std::min(wanted, run.plan.row_cache_bytes / (2 * static_cast<std::size_t>(run.pool.size())));
}

// As well as the options ask for.
bool IsKnown(const TrainingRun& run, const BinaryProblem& problem, const Learned& learned) {
  if (run.options.weights_tolerance == 0) return true;
  const Importance importance = FindImportance(*problem.regularizer, learned.certificate);
  return ShareError(importance, learned.theta) <= run.options.weights_tolerance;
}

// Machines on all samples are certified together, from one pass over the kernels. A machine that needs more
// work is learned further by itself.
void CertifyTogether(const TrainingRun& run, std::span<const BinaryProblem> problems,
                     std::vector<Learned>& learned) {
  const Stopwatch watch;
  std::vector<Objective> objectives;
  std::vector<JudgedMachine> machines;
  objectives.reserve(problems.size());
  for (std::size_t k = 0; k < problems.size(); ++k) {
    objectives.emplace_back(problems[k].y, problems[k].upper, run.options);
    const Learned& one = learned[k];
    machines.push_back({&objectives.back().risk(), problems[k].regularizer.get(), one.theta, one.beta,
                        one.dual_beta.empty() ? one.beta : one.dual_beta, one.counted});
  }
  std::vector<Certificate> certificates = CertifyAll(run.grams->Exact(), machines);
  const double seconds = watch.Seconds() / static_cast<double>(problems.size());
  for (std::size_t k = 0; k < problems.size(); ++k) {
    learned[k].certificate = std::move(certificates[k]);
    learned[k].certificate_seconds += seconds;
    if (learned[k].certificate.relative_gap <= run.options.gap && IsKnown(run, problems[k], learned[k]))
      continue;
    const bool has_ended = learned[k].status == Status::kConverged || learned[k].status == Status::kStalled;
    if (!has_ended || run.control.ShouldStop()) continue;
    const WarmStart start{learned[k].theta, learned[k].beta, learned[k].certificate.outputs};
    const RunControl::Stage stage = MachineStage(run, learned, k, problems.size());
    learned[k] =
        LearnOne(run, problems[k], &start, {*run.grams, run.pool, run.plan.row_cache_bytes, run.control});
  }
}

// Every thread takes one machine after the other; all read the same bases, which do not change any more.
std::vector<Learned> LearnSideBySide(const TrainingRun& run, std::span<const BinaryProblem> problems,
                                     KernelWork& work) {
  const bool are_whole =
      std::ranges::all_of(problems, [](const BinaryProblem& problem) { return problem.rows.empty(); });
  run.grams->KeepBases(run.plan.keeps_exact_bases && !are_whole);
  std::vector<Learned> learned(problems.size());
  std::mutex mutex;
  std::vector<MemoryReserve> reserves(run.pool.size());
  const ScopedPoll poll_outside(run.pool, [&] {
    const std::lock_guard lock(mutex);
    run.control.ShouldStop();
  });
  {
    const ScopedBlasThreads blas_threads(1);
    run.pool.ParallelFor(static_cast<Index>(problems.size()), 1, [&](Index k, Index, int thread) {
      const BinaryProblem& problem = problems[k];
      const Context context = ContextWithin(run.control, mutex);
      RunControl control(context);
      ThreadPool pool(1);
      Stopwatch since_poll;
      const ScopedPoll poll(pool, [&] {
        if (since_poll.Seconds() < kSecondsBetweenPolls) return;
        since_poll = Stopwatch();
        control.ShouldStop();  // which throws if the run is abandoned
      });
      const std::optional<WarmStart> start = StartOf(run, problems, k);
      const std::shared_ptr<Grams> grams = run.grams->Part(problem.rows, GatheredBytes(run, problem), pool);
      learned[k] = LearnOne(run, problem, start ? &*start : nullptr,
                            {*grams, pool, run.plan.row_cache_bytes / run.pool.size(), control,
                             &reserves[thread], /*certifies=*/!are_whole});
      const std::lock_guard lock(mutex);
      if (learned[k].status == Status::kInterrupted) learned[k].status = *run.control.stop_reason();
      work.Add(*grams);
    });
  }
  if (are_whole) CertifyTogether(run, problems, learned);
  return learned;
}

std::vector<Learned> LearnAll(const TrainingRun& run, std::span<const BinaryProblem> problems,
                              KernelWork& work) {
  if (run.grams != nullptr && run.plan.keeps_bases) return LearnSideBySide(run, problems, work);
  std::vector<Learned> learned;
  for (std::size_t k = 0; k < problems.size(); ++k) {
    if (run.grams == nullptr) {
      learned.push_back(LearnBiasOnly(Objective(problems[k].y, problems[k].upper, run.options).risk()));
      continue;
    }
    const std::optional<WarmStart> start = StartOf(run, problems, k);
    const RunControl::Stage stage = MachineStage(run, learned, k, problems.size());
    learned.push_back(LearnAlone(run, problems[k], start ? &*start : nullptr, work));
  }
  return learned;
}

// Where all machines start, if the model to start from has the same machines.
std::optional<WarmStart> CommonStartOf(const TrainingRun& run, std::span<const BinaryProblem> problems) {
  WarmStart all;
  for (std::size_t k = 0; k < problems.size(); ++k) {
    std::optional<WarmStart> start = StartOf(run, problems, k);
    if (!start) return std::nullopt;
    all.theta = std::move(start->theta);
    all.beta.insert(all.beta.end(), start->beta.begin(), start->beta.end());
  }
  return all;
}

// One theta for all machines. The answer holds machine after machine.
Learned LearnWithCommonWeights(const TrainingRun& run, std::span<const BinaryProblem> problems) {
  std::vector<Objective> objectives;
  objectives.reserve(problems.size());
  CommonLearningProblem problem{{}, run.regularizer};
  for (const BinaryProblem& one : problems) {
    objectives.emplace_back(one.y, one.upper, run.options);
    problem.risks.push_back(objectives.back().risk());
  }
  if (run.plan.keeps_bases) run.grams->KeepBases(run.plan.keeps_exact_bases);
  const std::optional<WarmStart> start = CommonStartOf(run, problems);
  return LearnUntilKnown(
      *run.regularizer, run.Learning(start ? &*start : nullptr), run.options.weights_tolerance,
      [&](const LearnOptions& options) {
        return LearnCommon(run.grams->Pair(), problem, options, run.control);
      },
      run.control);
}

// One of the machines with common weights; bounds are those of the whole.
Learned PartOf(const Learned& whole, std::size_t k, std::size_t machines) {
  const std::size_t samples = whole.beta.size() / machines;
  Learned part;
  part.status = whole.status;
  part.theta = whole.theta;
  part.beta.assign(whole.beta.begin() + static_cast<std::ptrdiff_t>(k * samples),
                   whole.beta.begin() + static_cast<std::ptrdiff_t>((k + 1) * samples));
  part.certificate.primal = whole.certificate.primal;
  part.certificate.dual = whole.certificate.dual;
  part.certificate.relative_gap = whole.certificate.relative_gap;
  part.certificate.bias = whole.certificate.biases[k];
  if (const auto& dual = whole.certificate.dual_beta; !dual.empty()) {
    part.certificate.dual_beta.assign(dual.begin() + static_cast<std::ptrdiff_t>(k * samples),
                                      dual.begin() + static_cast<std::ptrdiff_t>((k + 1) * samples));
  }
  part.iterations = whole.iterations;
  part.solves = whole.solves;
  return part;
}

// Status of the whole: the first that is not converged.
void Add(const Learned& one, Learned& total) {
  if (total.status == Status::kConverged) total.status = one.status;
  total.certificate.primal += one.certificate.primal;
  total.certificate.dual += one.certificate.dual;
  total.certificate.gap += one.certificate.gap;
  total.certificate.relative_gap = std::max(total.certificate.relative_gap, one.certificate.relative_gap);
  total += one;
  total.method = one.method;
  total.driver = one.driver;
  total.solver = one.solver;
}

// The run as a whole: sums, and means of the weights.
void AddUp(std::span<const Learned> machines, std::size_t kernels, Learned& total) {
  total.theta.assign(kernels, 0.0);
  total.certificate.quadratics.assign(kernels, 0.0);
  for (const Learned& learned : machines) {
    Add(learned, total);
    for (std::size_t m = 0; m < kernels; ++m) {
      total.theta[m] += learned.theta[m] / static_cast<double>(machines.size());
      total.certificate.quadratics[m] += learned.certificate.quadratics[m];
    }
  }
}

MachineReport Report(const TrainingRun& run, const BinaryProblem& problem, const Learned& learned) {
  MachineReport report;
  report.name = run.samples.classes[problem.output];
  if (problem.against >= 0) report.against = run.samples.classes[problem.against];
  report.status = learned.status;
  report.primal = learned.certificate.primal;
  report.dual = learned.certificate.dual;
  report.relative_gap = learned.certificate.relative_gap;
  report.iterations = learned.iterations;
  report.solves = learned.solves;
  report.bias = learned.certificate.bias;
  report.n_support = std::ranges::count_if(learned.beta, [](double b) { return b != 0; });
  report.weights = learned.theta;
  report.quadratics = learned.certificate.quadratics;
  report.history = learned.history;
  return report;
}

ModelMachine OverAllSamples(const BinaryProblem& problem, const Learned& learned) {
  ModelMachine machine{learned.theta, SparseVector::From(learned.beta), learned.certificate.bias,
                       problem.output, problem.against};
  if (problem.rows.empty()) return machine;
  for (std::int32_t& position : machine.beta.positions) {
    position = static_cast<std::int32_t>(problem.rows[position]);
  }
  return machine;
}

MachineProblem ProblemOf(const BinaryProblem& problem, const Learned& learned) {
  MachineProblem own = problem.own;
  own.dual = DualPointOf(learned.certificate);
  if (!own.dual) return own;
  for (std::int32_t& position : own.dual->positions) {
    if (!problem.rows.empty()) position = static_cast<std::int32_t>(problem.rows[position]);
  }
  return own;
}

// Of the mean weights, and of every machine in its report; of common weights once.
void FindImportanceOfAll(const TrainingRun& run, std::span<const BinaryProblem> problems,
                         std::span<const Learned> machines, LearnedMachines& all) {
  if (run.grams == nullptr) return;
  all.sources = SourcesOf(run.prepared);
  const std::size_t kernels = run.prepared.kept.size();
  if (all.problem.has_common_weights) {
    all.importance =
        FindImportance(*run.regularizer, all.total.certificate, all.total.theta, all.sources, kernels);
    return;
  }
  std::vector<Importance> of_kernels, of_sources;
  for (std::size_t k = 0; k < problems.size(); ++k) {
    LearnedImportance one = FindImportance(*problems[k].regularizer, machines[k].certificate,
                                           machines[k].theta, all.sources, kernels);
    all.reports[k].weight_intervals = one.kernels.weights;
    all.reports[k].share_intervals = one.kernels.shares;
    of_kernels.push_back(std::move(one.kernels));
    of_sources.push_back(std::move(one.sources));
  }
  all.importance = {MeanImportance(of_kernels), MeanImportance(of_sources)};
}

}  // namespace

LearnedMachines LearnBinaryProblems(const TrainingRun& run, std::span<const BinaryProblem> problems) {
  const std::size_t kernels = run.prepared.kept.size();
  LearnedMachines all;
  const bool has_common_weights =
      run.grams != nullptr && run.options.machine_weights == MachineWeights::kCommon;
  std::vector<Learned> machines;
  all.problem.has_common_weights = has_common_weights;
  if (has_common_weights) {
    all.total = LearnWithCommonWeights(run, problems);
    for (std::size_t k = 0; k < problems.size(); ++k) {
      machines.push_back(PartOf(all.total, k, problems.size()));
    }
  } else {
    machines = LearnAll(run, problems, all.kernel_work);
    AddUp(machines, kernels, all.total);
  }
  for (std::size_t k = 0; k < problems.size(); ++k) {
    all.reports.push_back(Report(run, problems[k], machines[k]));
    all.machines.push_back(OverAllSamples(problems[k], machines[k]));
    all.problem.machines.push_back(ProblemOf(problems[k], machines[k]));
  }
  FindImportanceOfAll(run, problems, machines, all);
  return run.Account(std::move(all));
}

}  // namespace kweave
