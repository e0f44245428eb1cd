#include "model/predict_pairs.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <string>

#include "kweave/error.h"

namespace kweave {
namespace {

MatrixFile OpenNew(const ModelPairKernel& kernel, const Dataset& data, const PredictOptions& options) {
  const auto held = std::ranges::find(data.matrices, kernel.file, &GramMatrix::name);
  if (held != data.matrices.end()) return MatrixFile::Wrap(*held);
  for (const auto& [name, path] : options.gram_files) {
    if (name == kernel.file || name == kernel.name) return MatrixFile::Open(path);
  }
  throw Error(ErrorKind::kData,
              fmt::format("the model needs the values of joint kernel '{}' for the new samples; give them "
                          "with `gram_files` '{}=FILE', one row per new sample and class",
                          kernel.name, kernel.file),
              {"gram_files", kernel.file, "its kernel values of the new samples"});
}

}  // namespace

NewPairs MatchPairs(const ModelContent& content, const Dataset& data, const PredictOptions& options) {
  NewPairs pairs;
  const auto classes = static_cast<Index>(content.classes.size());
  for (const ModelPairKernel& kernel : content.pairs.kernels) {
    const MatrixFile& matrix = pairs.files.emplace_back(OpenNew(kernel, data, options));
    const Index all = content.training_count * classes, stored = content.stored_count() * classes;
    if (matrix.cols() != all && matrix.cols() != stored) {
      throw Error(ErrorKind::kData,
                  fmt::format("{}: {} columns, expected one per class of every training sample ({}) or of "
                              "every stored sample ({})",
                              matrix.name(), matrix.cols(), all, stored));
    }
    if (matrix.rows() % classes != 0) {
      throw Error(ErrorKind::kData, fmt::format("{}: {} rows, expected one per new sample and class, a "
                                                "multiple of the {} classes",
                                                matrix.name(), matrix.rows(), classes));
    }
    const Index samples = matrix.rows() / classes;
    if (pairs.samples >= 0 && samples != pairs.samples) {
      throw Error(ErrorKind::kData, fmt::format("{}: {} rows, but {} has {}", matrix.name(), matrix.rows(),
                                                pairs.files.front().name(), pairs.files.front().rows()));
    }
    pairs.samples = samples;
  }
  return pairs;
}

void AddPairs(const ModelContent& content, const NewPairs& pairs, ThreadPool& pool,
              std::span<double> decision) {
  const auto classes = static_cast<Index>(content.classes.size());
  for (std::size_t m = 0; m < pairs.files.size(); ++m) {
    const MatrixFile& matrix = pairs.files[m];
    const double weight = content.pairs.kernels[m].weight * content.pairs.kernels[m].scale;
    const bool has_all = matrix.cols() == content.training_count * classes;
    pool.ParallelFor(matrix.rows(), 1, [&](Index begin, Index end, int) {
      std::vector<double> row(matrix.cols());
      for (Index r = begin; r < end; ++r) {
        matrix.RowPart(r, 0, matrix.cols(), row.data());
        double sum = 0;
        for (std::size_t k = 0; k < content.pairs.beta.size(); ++k) {
          const Index sample = static_cast<Index>(k) / classes, u = static_cast<Index>(k) % classes;
          sum +=
              content.pairs.beta[k] * row[(has_all ? content.sample_indices[sample] : sample) * classes + u];
        }
        if (!std::isfinite(sum)) {
          throw Error(ErrorKind::kData, fmt::format("{}: row {} holds values that are not finite numbers",
                                                    matrix.name(), matrix.RowNumber(r)));
        }
        decision[r] += weight * sum;
      }
    });
  }
}

}  // namespace kweave
