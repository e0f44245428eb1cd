// What kernels given on pairs of sample and class add to the values of new samples.
#ifndef KWEAVE_MODEL_PREDICT_PAIRS_H_
#define KWEAVE_MODEL_PREDICT_PAIRS_H_

#include <span>
#include <vector>

#include "base/threads.h"
#include "data/matrix_file.h"
#include "kweave/dataset.h"
#include "kweave/model.h"
#include "model/content.h"

namespace kweave {

/// For every kernel of ModelContent::pairs its values between new pairs (rows) and training pairs (columns),
/// those of one sample together, classes in the order of the model.
struct NewPairs {
  std::vector<MatrixFile> files;
  Index samples = -1;  ///< -1: there are no such kernels
};

/// Finds the matrices in the data, or in the files that `options` names, by the name of a kernel or of the
/// file it was trained from. Throws Error(kData) when one is missing or has other rows and columns than new
/// samples and model ask for.
NewPairs MatchPairs(const ModelContent& content, const Dataset& data, const PredictOptions& options);

/// Adds to `decision`, row after row, one per new sample, with a value for each class. Throws Error(kData) on
/// values that are not finite.
void AddPairs(const ModelContent& content, const NewPairs& pairs, ThreadPool& pool,
              std::span<double> decision);

}  // namespace kweave

#endif  // KWEAVE_MODEL_PREDICT_PAIRS_H_
