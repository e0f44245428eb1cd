// What is known of the kernel weights at every optimum, as it is reported: by kernel and by source.
#ifndef KWEAVE_TRAIN_IMPORTANCE_REPORT_H_
#define KWEAVE_TRAIN_IMPORTANCE_REPORT_H_

#include <string>
#include <vector>

#include "certificate/importance.h"
#include "kweave/options.h"
#include "train/prepared.h"
#include "weights/run/learn.h"

namespace kweave {

/// The views and files of kernel values that kernels come from, in the order of their first kernels.
struct KernelSources {
  std::vector<std::string> names;
  KernelParts parts;  ///< numbers among the kept kernels, those on pairs after the others
};

KernelSources SourcesOf(const PreparedKernels& prepared);

struct LearnedImportance {
  Importance kernels;  ///< of the kept kernels, those on pairs after the others
  Importance sources;
};

/// Of one machine, or of several with common weights. With kernels on the classes the weights are those of
/// products, kernel after kernel, and those of pairs after them. Unknown where theta, what was learned, is
/// not in its intervals: rounding is larger than the gap there.
LearnedImportance FindImportance(const Regularizer& regularizer, Certificate certificate,
                                 std::span<const double> theta, const KernelSources& sources,
                                 std::size_t kernels, std::size_t class_kernels = 1);

/// What a user should know who takes the weights for the last word; empty where they are.
std::string NoteOnOpenWeights(const TrainOptions& options, const PreparedKernels& prepared,
                              const Importance& importance, std::span<const double> theta);

}  // namespace kweave

#endif  // KWEAVE_TRAIN_IMPORTANCE_REPORT_H_
