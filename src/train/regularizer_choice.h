// The regulariser that the options ask for.
#ifndef KWEAVE_TRAIN_REGULARIZER_CHOICE_H_
#define KWEAVE_TRAIN_REGULARIZER_CHOICE_H_

#include "gram/gram.h"
#include "kweave/options.h"
#include "kweave/summary.h"
#include "regularizer/regularizer.h"
#include "train/prepared.h"
#include "weights/log_determinant.h"

namespace kweave {

/// Whether it is ||theta||_p <= 1 and nothing else.
bool IsPlainNorm(const TrainOptions& options);

/// Without kernels: what it can do is known before them, for a check of the options. Throws Error(kUsage) on options that do
/// not go together or are out of range.
RegularizerPointer MakeRegularizer(const TrainOptions& options);

/// For the kernels kept. Reads the files that the options name; throws Error(kData) when they do not fit the kernels.
/// `gram` holds these kernels between the training samples: only a matrix of alignments needs it.
RegularizerPointer MakeRegularizer(const TrainOptions& options, const PreparedKernels& prepared,
                                   std::span<const View> views, std::uint64_t seed, Gram* gram);

/// Whether the matrix is one of alignments, so that a Gram is needed.
bool NeedsAlignments(const TrainOptions& options);

/// The groups of a mixed norm with the weights that theta gives them; none for other regularisers.
std::vector<GroupReport> ReportGroups(const TrainOptions& options, const PreparedKernels& prepared,
                                      std::span<const View> views, std::uint64_t seed,
                                      std::span<const double> theta);

/// Whether it is a function of the learned kernel matrix (logdet). MakeRegularizer then only tells what it can do, and
/// OnKernelMatrix makes the one to learn with.
bool NeedsKernelMatrix(const TrainOptions& options);
RegularizerPointer OnKernelMatrix(const TrainOptions& options, KernelMatrixFunction matrix);

}  // namespace kweave

#endif  // KWEAVE_TRAIN_REGULARIZER_CHOICE_H_
