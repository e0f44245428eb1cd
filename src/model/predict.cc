#include "model/predict.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "base/memory.h"
#include "base/threads.h"
#include "data/matrix_file.h"
#include "gram/group.h"
#include "gram/make_gram.h"
#include "kweave/error.h"

namespace kweave {
namespace {

std::string QuotedNames(std::span<const View> views) {
  std::string names;
  for (const View& view : views) names += fmt::format("{}'{}'", names.empty() ? "" : ", ", view.name);
  return names.empty() ? "none" : names;
}

// The features of `view`, as wide as in training. A sparse file may end before the last features do.
Features FitColumns(const View& view, Index expected) {
  Features features = view.features;
  if (auto* sparse = std::get_if<SparseRows>(&features); sparse != nullptr && sparse->cols < expected) {
    sparse->cols = expected;
  }
  if (ColumnCount(features) != expected) {
    throw Error(ErrorKind::kData, fmt::format("view '{}' has {} features, the model was trained on {}",
                                              view.name, ColumnCount(features), expected));
  }
  return features;
}

// The views of the model's kernels, in their order, found in the data by name; a single one by position.
// Columns are matched by position, so names that say otherwise are a mistake. Files without names are trusted.
void CheckFeatureNames(const View& trained, const View& given) {
  if (trained.feature_names.empty() || trained.feature_names.size() != given.feature_names.size()) return;
  const auto [expected, found] = std::ranges::mismatch(trained.feature_names, given.feature_names);
  if (expected == trained.feature_names.end()) return;
  throw Error(ErrorKind::kData,
              fmt::format("view '{}': feature {} is called '{}', expected '{}' as in training", trained.name,
                          found - given.feature_names.begin() + 1, *found, *expected));
}

std::vector<View> MatchViews(const ModelContent& content, const Dataset& data) {
  std::vector<View> matched;
  for (const View& trained : content.samples) {
    auto found = std::ranges::find(data.views, trained.name, &View::name);
    if (content.samples.size() == 1 && data.views.size() == 1) found = data.views.begin();
    if (found == data.views.end()) {
      throw Error(ErrorKind::kData, fmt::format("the model needs view '{}'; the data has {}", trained.name,
                                                QuotedNames(data.views)));
    }
    CheckFeatureNames(trained, *found);
    matched.push_back({trained.name, FitColumns(*found, ColumnCount(trained.features)), {}});
  }
  return matched;
}

// The matrix that the data hold for training file f, or the file that `options` names for it: by that file's name or
// by the name of a kernel made from it.
MatrixSource NewFile(const ModelContent& content, std::int32_t f, const Dataset& data,
                     const PredictOptions& options) {
  const KernelSet& kernels = content.kernels;
  const auto held = std::ranges::find(data.matrices, kernels.files[f].name, &GramMatrix::name);
  if (held != data.matrices.end()) {
    return {held->name, std::make_shared<const MatrixFile>(MatrixFile::Wrap(*held))};
  }
  for (const auto& [name, path] : options.gram_files) {
    if (name == kernels.files[f].name) return {path};
    for (Index m = 0; m < kernels.size(); ++m) {
      if (!kernels.IsComposite(m) && kernels.Term(m).file == f && kernels.Name(m) == name) return {path};
    }
  }
  throw Error(ErrorKind::kData,
              fmt::format("the model needs the kernel values of the new samples for '{}'; give "
                          "them with --gram '{}=FILE', one row per new sample",
                          kernels.files[f].name, kernels.files[f].name));
}

// The new samples of precomputed kernels.
struct NewMatrices {
  std::vector<MatrixSource> files;
  Index rows = -1;  ///< -1: no files
};

NewMatrices MatchMatrices(const ModelContent& content, const Dataset& data, const PredictOptions& options) {
  NewMatrices matrices;
  const auto stored = static_cast<Index>(content.beta.size());
  const bool needs_diagonal = std::ranges::count(content.normalization.sequence, Normalizer::kSpherical) > 0;
  for (std::size_t f = 0; f < content.kernels.files.size(); ++f) {
    matrices.files.push_back(NewFile(content, static_cast<std::int32_t>(f), data, options));
    const MatrixFile matrix = matrices.files.back().Open();
    const Index columns = matrix.cols() - (needs_diagonal ? 1 : 0);
    if (columns != content.training_count && columns != stored) {
      throw Error(
          ErrorKind::kData,
          fmt::format("{}: {} columns, expected one per training sample ({}) or per stored sample ({}){}",
                      matrix.name(), matrix.cols(), content.training_count, stored,
                      needs_diagonal ? ", then one with k(x,x) of the new samples" : ""));
    }
    if (matrices.rows >= 0 && matrix.rows() != matrices.rows) {
      throw Error(ErrorKind::kData, fmt::format("{}: {} rows, but {} has {}", matrix.name(), matrix.rows(),
                                                matrices.files.front().name, matrices.rows));
    }
    matrices.rows = matrix.rows();
  }
  return matrices;
}

// Samples whose expansions fit into the memory given; enough of them that preparing the left side is paid
// for.
Index BlockSize(const ModelContent& content, const Context& context) {
  const std::size_t budget = context.memory_bytes > 0 ? context.memory_bytes : AvailableMemoryBytes() / 2;
  const std::size_t bytes_per_sample = sizeof(double) * (64 + content.theta.size());
  return std::clamp<Index>(static_cast<Index>(budget / 4 / bytes_per_sample), 256, 8192);
}

std::vector<View> SelectBlock(std::span<const View> views, Index begin, Index end) {
  std::vector<Index> rows(end - begin);
  std::iota(rows.begin(), rows.end(), begin);
  std::vector<View> block;
  for (const View& view : views) block.push_back({view.name, SelectRows(view.features, rows), {}});
  return block;
}

// New samples matched with what a model needs to know about them.
struct NewSamples {
  std::vector<View> views;
  NewMatrices matrices;
  Index count = 0;
};

NewSamples MatchSamples(const ModelContent& content, const Dataset& data, const PredictOptions& options) {
  NewSamples samples{MatchViews(content, data), MatchMatrices(content, data, options), data.size};
  const NewMatrices& matrices = samples.matrices;
  if (matrices.rows >= 0 && !data.views.empty() && matrices.rows != data.size) {
    throw Error(ErrorKind::kData, fmt::format("{}: {} rows, but the data has {} samples",
                                              matrices.files.front().name, matrices.rows, data.size));
  }
  if (matrices.rows >= 0) samples.count = matrices.rows;
  return samples;
}

// Calls visit(gram, begin, end) with the kernels between stored samples and new samples begin to end - 1.
template <class Visit>
void ForEachBlock(const ModelContent& content, const NewSamples& samples, const Context& context,
                  Visit visit) {
  if (content.theta.empty()) return;
  KernelSet kernels = content.kernels;
  kernels.files = samples.matrices.files;
  ThreadPool pool(context.threads);
  const std::vector<View> left = WithSampleCount(content.samples, static_cast<Index>(content.beta.size()));
  // Matrices are read as a whole pass; everything else a block of samples at a time.
  const Index block = samples.matrices.files.empty() ? BlockSize(content, context) : samples.count;
  for (Index begin = 0; begin < samples.count; begin += block) {
    if (context.stop_requested && context.stop_requested()) {
      throw Error(ErrorKind::kResource, "interrupted before all samples were predicted");
    }
    const Index end = std::min(begin + block, samples.count);
    const std::vector<View> right = block < samples.count ? SelectBlock(samples.views, begin, end)
                                                          : WithSampleCount(samples.views, samples.count);
    const auto gram = MakeCrossGram(kernels, left, right, content.normalization, content.sample_indices,
                                    {.use_float = false, .evaluation = Evaluation::kAuto}, pool);
    visit(*gram, begin, end);
  }
}

}  // namespace

std::vector<double> Decide(const ModelContent& content, const Dataset& data, const PredictOptions& options,
                           const Context& context) {
  const NewSamples samples = MatchSamples(content, data, options);
  std::vector<double> decision(samples.count, content.bias);
  ForEachBlock(content, samples, context, [&](Gram& gram, Index begin, Index end) {
    const std::span out = std::span(decision).subspan(begin, end - begin);
    gram.Expand(content.beta)->Outputs(content.theta, out);
    for (double& value : out) value += content.bias;
  });
  return decision;
}

std::vector<double> DecideByKernel(const ModelContent& content, const Dataset& data,
                                   const PredictOptions& options, const Context& context) {
  const NewSamples samples = MatchSamples(content, data, options);
  const auto kernels = static_cast<Index>(content.theta.size());
  std::vector<double> parts(samples.count * kernels);
  ForEachBlock(content, samples, context, [&](Gram& gram, Index begin, Index end) {
    const auto expansion = gram.Expand(content.beta);
    std::vector<double> theta(kernels), out(end - begin);
    for (Index m = 0; m < kernels; ++m) {
      theta[m] = content.theta[m];
      expansion->Outputs(theta, out);
      theta[m] = 0;
      for (Index i = begin; i < end; ++i) parts[i * kernels + m] = out[i - begin];
    }
  });
  return parts;
}

std::vector<double> LearnedKernelValues(const ModelContent& content, const Dataset& data,
                                        const PredictOptions& options, const Context& context) {
  const NewSamples samples = MatchSamples(content, data, options);
  const auto stored = static_cast<Index>(content.beta.size());
  std::vector<double> values(samples.count * stored);
  ForEachBlock(content, samples, context, [&](Gram& gram, Index begin, Index end) {
    const double shift = gram.RowShift(content.theta);
    const Index count = end - begin;
    std::vector<double> rows(kRowBatch * count);
    for (Index first = 0; first < stored; first += kRowBatch) {
      std::vector<Index> batch(std::min(kRowBatch, stored - first));
      std::iota(batch.begin(), batch.end(), first);
      gram.Rows(content.theta, batch, rows.data(), count);
      for (std::size_t r = 0; r < batch.size(); ++r) {
        for (Index i = 0; i < count; ++i) {
          values[(begin + i) * stored + batch[r]] = rows[r * count + i] + shift;
        }
      }
    }
  });
  return values;
}

}  // namespace kweave
