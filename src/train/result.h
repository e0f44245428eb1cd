#ifndef KWEAVE_TRAIN_RESULT_H_
#define KWEAVE_TRAIN_RESULT_H_

#include <optional>

#include "base/run_control.h"
#include "gram/gram.h"
#include "kweave/context.h"
#include "kweave/model.h"
#include "kweave/options.h"
#include "model/content.h"
#include "train/grams.h"
#include "train/importance_report.h"
#include "train/memory_plan.h"
#include "train/objective.h"
#include "train/prepared.h"
#include "weights/run/learn.h"

namespace kweave {

/// What was learned of kernels given on pairs of sample and class, PreparedKernels::pairs.
struct LearnedPairs {
  std::vector<double> theta;
  std::vector<double> beta;  ///< sample after sample, one for each class
};

/// What training learned, before it becomes a model.
struct LearnedMachines {
  /// The run as a whole: status, bounds, times. With several machines theta holds the weights to report,
  /// those of kernels on pairs after the others, and the certificate the sums of the bounds and of the
  /// quadratics; beta is not used.
  Learned total;
  std::vector<ModelMachine> machines;    ///< over the kept kernels and all prepared samples
  LearnedPairs pairs;                    ///< empty without such kernels
  std::optional<Multiclass> multiclass;  ///< as in ModelContent
  std::vector<MachineReport> reports;    ///< weights and quadratics over the kept kernels; empty: one machine
  std::optional<ClassKernelReport> class_kernel;
  std::vector<GroupReport> groups;
  ModelProblem problem;     ///< what the model keeps of it: regulariser, machines and dual points
  bool uses_table = false;  ///< by the certificate
  KernelWork kernel_work;
  std::optional<double> leave_one_out;
  /// Of the weights in `total`; those of single machines are in their reports.
  LearnedImportance importance;
  KernelSources sources;
};

/// The dual point behind a lower bound, for the model to keep; none where it is beta.
std::optional<SparseVector> DualPointOf(const Certificate& certificate);

/// One machine as the whole answer.
LearnedMachines OneMachine(Learned learned, double decision_bias);

/// The model of what was learned: active kernels and stored samples only, and a summary without its times.
ModelContent MakeContent(const PreparedSamples& samples, const PreparedKernels& prepared,
                         const TrainOptions& options, const LearnedMachines& learned);

/// Puts the factors of a learned product in the place of the one kernel that they make: weights are their
/// parameters, quadratics the derivatives by them.
void ReportFactors(const PreparedKernels& factors, const Learned& learned, Summary& summary);

/// What training chose, as JSON literals.
std::vector<std::pair<std::string, std::string>> EffectiveOptions(const TrainOptions& options,
                                                                  const Context& context,
                                                                  const MemoryPlan& plan,
                                                                  const LearnedMachines& learned);

/// The model, its summary completed by what the whole run chose and took.
Model FinishModel(ModelContent content, const TrainOptions& options, const Context& context,
                  const MemoryPlan& plan, const LearnedMachines& learned, int threads, double kernel_seconds,
                  const RunControl& control);

/// Summary::leave_one_out of a machine with the squared loss, on few enough samples that it is cheap; else
/// nothing.
std::optional<double> LeaveOneOutScore(Gram& exact, const TrainOptions& options, const Risk& risk,
                                       const Learned& learned);

/// What is learned when no kernel varies over the samples: the best constant, with a gap of zero.
Learned LearnBiasOnly(const Risk& risk);

}  // namespace kweave

#endif  // KWEAVE_TRAIN_RESULT_H_
