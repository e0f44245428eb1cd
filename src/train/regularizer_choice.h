// The regulariser that the options ask for.
#ifndef KWEAVE_TRAIN_REGULARIZER_CHOICE_H_
#define KWEAVE_TRAIN_REGULARIZER_CHOICE_H_

#include <functional>
#include <string>
#include <vector>

#include "gram/gram.h"
#include "kweave/options.h"
#include "kweave/summary.h"
#include "model/problem.h"
#include "regularizer/regularizer.h"
#include "train/prepared.h"
#include "weights/models/log_determinant.h"

namespace kweave {

/// Whether it is ||theta||_p <= 1 and nothing else.
bool IsPlainNorm(const TrainOptions& options);

/// Without kernels: what it can do is known before them, for a check of the options.
RegularizerPointer MakeRegularizer(const TrainOptions& options);

/// What some regularisers are made of beside options and names; asked only by those.
struct RegularizerSources {
  std::function<Gram&()> gram;  ///< the kernels between the training samples: a matrix of alignments
  std::function<KernelMatrixFunction()> kernel_matrix;  ///< the learned kernel matrix: logdet
};

struct ChosenRegularizer {
  RegularizerPointer regularizer;
  ModelRegularizer described;            ///< what the model is to keep of it
  std::vector<std::string> group_names;  ///< of a mixed norm, one for every kernel kept; else empty
};

/// For the kernels kept; made once per training. Reads the files that the options name; throws Error(kData)
/// when they do not fit the kernels.
ChosenRegularizer MakeRegularizer(const TrainOptions& options, const PreparedKernels& prepared,
                                  std::span<const View> views, std::uint64_t seed,
                                  const RegularizerSources& sources);

/// The files that MakeRegularizer would read, each behind the name of its option.
std::vector<std::pair<std::string, std::string>> FilesOfRegularizer(const TrainOptions& options);

/// Whether the matrix is one of alignments, so that a Gram is needed.
bool NeedsAlignments(const TrainOptions& options);

/// The groups of a mixed norm, by the names of those that each kernel belongs to, with the weights that theta
/// gives them; none for other regularisers.
std::vector<GroupReport> ReportGroups(const TrainOptions& options, const PreparedKernels& prepared,
                                      const std::vector<std::string>& names, std::span<const double> theta);

/// Whether it is a function of the learned kernel matrix (logdet).
bool NeedsKernelMatrix(const TrainOptions& options);

/// The block norms over groups and within them that the options ask for, whichever way they say it.
double OuterExponent(const TrainOptions& options);
double InnerExponent(const TrainOptions& options);

}  // namespace kweave

#endif  // KWEAVE_TRAIN_REGULARIZER_CHOICE_H_
