#include "model/predict.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "base/memory.h"
#include "base/threads.h"
#include "compute/cpu/family_loops.h"
#include "data/matrix_file.h"
#include "gram/group.h"
#include "gram/make_gram.h"
#include "kweave/error.h"
#include "model/machine_outputs.h"
#include "model/match_views.h"
#include "model/missing_views.h"
#include "model/predict_pairs.h"

namespace kweave {
namespace {

constexpr Index kSamplesPerPiece = 8;  // decided at a time

// Whether `name` stands in `text` by itself, not as a part of a longer one.
bool HoldsWord(std::string_view text, std::string_view name) {
  constexpr std::string_view kBounds = "=,()[]\"'\\ ";
  const auto is_bound = [&](std::size_t at) {
    return at >= text.size() || kBounds.find(text[at]) != kBounds.npos;
  };
  for (std::size_t at = text.find(name); at != text.npos; at = text.find(name, at + 1)) {
    if ((at == 0 || is_bound(at - 1)) && is_bound(at + name.size())) return true;
  }
  return false;
}

// Whether `name` is a kernel or a file of training, also of a kernel that got no weight and is not needed.
bool IsKnownMatrix(const ModelContent& content, const std::string& name) {
  const auto& files = content.kernels.files;
  if (std::ranges::find(files, name, &MatrixSource::name) != files.end()) return true;
  const auto& pairs = content.pairs.kernels;
  if (std::ranges::find(pairs, name, &ModelPairKernel::file) != pairs.end()) return true;
  const auto has_name = [&](const KernelReport& kernel) { return kernel.name == name; };
  if (std::ranges::any_of(content.summary.kernels, has_name)) return true;
  return std::ranges::any_of(content.summary.options, [&](const auto& option) {
    return option.first == "kernels" && HoldsWord(option.second, name);
  });
}

void CheckMatrixNames(const ModelContent& content, const PredictOptions& options) {
  for (const auto& [name, path] : options.gram_files) {
    if (IsKnownMatrix(content, name)) continue;
    std::vector<std::string_view> needed;
    for (const MatrixSource& file : content.kernels.files) needed.push_back(file.name);
    for (const ModelPairKernel& kernel : content.pairs.kernels) needed.push_back(kernel.file);
    throw Error(ErrorKind::kUsage,
                fmt::format("`gram_files` '{}' is no precomputed kernel of the model, which {}{}", name,
                            needed.empty() ? "needs none" : "needs ", fmt::join(needed, ", ")),
                {"gram_files", name, fmt::format("one of {}", fmt::join(needed, ", "))});
  }
}

// The matrix that the data hold for training file f, or the file that `options` names for it: by that file's
// name or by the name of a kernel made from it.
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
                          "them with `gram_files` '{}=FILE', one row per new sample",
                          kernels.files[f].name, kernels.files[f].name),
              {"gram_files", kernels.files[f].name, "its kernel values of the new samples"});
}

// The new samples of precomputed kernels.
struct NewMatrices {
  std::vector<MatrixSource> files;
  Index rows = -1;  ///< -1: no files
};

NewMatrices MatchMatrices(const ModelContent& content, const Dataset& data, const PredictOptions& options) {
  CheckMatrixNames(content, options);
  NewMatrices matrices;
  const Index stored = content.stored_count();
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
  const std::size_t bytes_per_sample =
      sizeof(double) * (64 * content.machines.size() + content.kernels.size());
  return std::clamp<Index>(static_cast<Index>(budget / 4 / bytes_per_sample), 256, 8192);
}

std::vector<View> SelectBlock(std::span<const View> views, Index begin, Index end) {
  std::vector<Index> rows(end - begin);
  std::iota(rows.begin(), rows.end(), begin);
  std::vector<View> block;
  for (const View& view : views) block.push_back(SelectSamples(view, rows));
  return block;
}

// New samples matched with what a model needs to know about them.
struct NewSamples {
  std::vector<View> views;
  NewMatrices matrices;
  NewPairs pairs;
  Index count = 0;
};

NewSamples MatchSamples(const ModelContent& content, const Dataset& data, const PredictOptions& options) {
  NewSamples samples{MatchViews(content, data), MatchMatrices(content, data, options),
                     MatchPairs(content, data, options), data.size};
  const NewMatrices& matrices = samples.matrices;
  if (matrices.rows >= 0 && !data.views.empty() && matrices.rows != data.size) {
    throw Error(ErrorKind::kData, fmt::format("{}: {} rows, but the data has {} samples",
                                              matrices.files.front().name, matrices.rows, data.size));
  }
  if (matrices.rows >= 0) samples.count = matrices.rows;
  const Index paired = samples.pairs.samples;
  if (paired >= 0 && (!data.views.empty() || matrices.rows >= 0) && paired != samples.count) {
    throw Error(ErrorKind::kData,
                fmt::format("{}: {} rows, expected {}, one for each class of each of the {} new samples",
                            samples.pairs.files.front().name(), samples.pairs.files.front().rows(),
                            samples.count * content.outputs(), samples.count));
  }
  if (paired >= 0) samples.count = paired;
  return samples;
}

// Calls visit(gram, pool, begin, end) with the kernels between stored samples and new samples begin to end -
// 1.
template <class Visit>
void ForEachBlock(const ModelContent& content, const NewSamples& samples, const Context& context,
                  Visit visit) {
  if (content.kernels.size() == 0) return;
  KernelSet kernels = content.kernels;
  kernels.files = samples.matrices.files;
  ThreadPool pool(context.threads);
  const auto throw_if_stopped = [&context] {
    if (context.stop_requested && context.stop_requested()) {
      throw Error(ErrorKind::kResource, "interrupted before all samples were predicted");
    }
  };
  const ScopedPoll poll(pool, throw_if_stopped);
  const std::vector<View> left = WithSampleCount(content.samples, content.stored_count());
  // Matrices are read as a whole pass; everything else a block of samples at a time.
  const Index block = samples.matrices.files.empty() ? BlockSize(content, context) : samples.count;
  for (Index begin = 0; begin < samples.count; begin += block) {
    throw_if_stopped();
    const Index end = std::min(begin + block, samples.count);
    const std::vector<View> right = block < samples.count ? SelectBlock(samples.views, begin, end)
                                                          : WithSampleCount(samples.views, samples.count);
    const auto gram = MakeCrossGram(kernels, left, right, content.normalization, content.sample_indices,
                                    {.use_float = false, .evaluation = FamilyEvaluation::kAuto}, pool);
    visit(*gram, pool, begin, end);
  }
}

// Calls visit(i, values) with what every machine says of new sample i, from several threads; first with the
// biases alone, which is all there is without kernels.
template <class Visit>
void ForEachSample(const ModelContent& content, const NewSamples& samples, const Context& context,
                   Visit visit) {
  const auto machines = static_cast<Index>(content.machines.size());
  std::vector<double> biases;
  for (const ModelMachine& machine : content.machines) biases.push_back(machine.bias);
  for (Index i = 0; i < samples.count; ++i) visit(i, biases);
  const MachineOutputs machine_outputs(content);
  ForEachBlock(content, samples, context, [&](Gram& gram, ThreadPool& pool, Index begin, Index end) {
    const Index count = end - begin;
    std::vector<double> out(machines * count);
    machine_outputs.Find(gram, pool, out);
    // The values of a few samples are turned over at a time: those of one machine lie side by side.
    pool.ParallelFor(count, kSamplesPerPiece, [&](Index first, Index last, int) {
      std::vector<double> values((last - first) * machines);
      for (Index k = 0; k < machines; ++k) {
        for (Index i = first; i < last; ++i)
          values[(i - first) * machines + k] = out[k * count + i] + biases[k];
      }
      for (Index i = first; i < last; ++i) {
        visit(begin + i, std::span(values).subspan((i - first) * machines, machines));
      }
    });
  });
}

// The value of every output from those of the machines. One against one counts votes; sums of the values,
// brought between -1/3 and 1/3, tell classes with equally many votes apart.
void CombineMachines(const ModelContent& content, std::span<const double> values, std::span<double> out) {
  std::ranges::fill(out, 0.0);
  if (content.multiclass != Multiclass::kOneAgainstOne) {
    for (std::size_t k = 0; k < values.size(); ++k) out[content.machines[k].output] += values[k];
    return;
  }
  std::vector<double> sums(out.size(), 0.0);
  for (std::size_t k = 0; k < values.size(); ++k) {
    const ModelMachine& machine = content.machines[k];
    out[values[k] > 0 ? machine.output : machine.against] += 1;
    sums[machine.output] += values[k];
    sums[machine.against] -= values[k];
  }
  for (std::size_t u = 0; u < out.size(); ++u) out[u] += sums[u] / (3 * (std::abs(sums[u]) + 1));
}

// The feature of sample i that is farthest from 0, by view, name or number, and value; empty where there is
// none.
std::string LargestFeature(const Dataset& data, Index i) {
  std::string named;
  double largest = 0;
  for (const View& view : data.views) {
    std::vector<double> row(ColumnCount(view.features));
    CopyRow(view.features, i, row);
    for (std::size_t j = 0; j < row.size(); ++j) {
      if (!(std::abs(row[j]) > largest)) continue;
      largest = std::abs(row[j]);
      named = fmt::format(
          "{:.6g} in column {} of view '{}'", row[j],
          view.feature_names.empty() ? fmt::format("{}", j + 1) : fmt::format("'{}'", view.feature_names[j]),
          view.name);
    }
  }
  return named;
}

// Features far beyond those of training overflow a kernel, and what is not a number decides nothing.
void RequireFinite(std::span<const double> values, Index per_sample, const Dataset& data) {
  const auto bad = std::ranges::find_if_not(values, [](double value) { return std::isfinite(value); });
  if (bad == values.end()) return;
  const Index i = (bad - values.begin()) / per_sample;
  const std::string largest = LargestFeature(data, i);
  throw Error(ErrorKind::kData,
              fmt::format("the value of new sample {} is not a finite number: {}",
                          data.ids.empty() ? fmt::format("{}", i + 1) : fmt::format("'{}'", data.ids[i]),
                          largest.empty() ? "its kernel values are too large"
                                          : fmt::format("its features ({}) overflow a kernel", largest)));
}

void RequireKernelsOnSamples(const ModelContent& content) {
  if (content.pairs.kernels.empty()) return;
  throw Error(ErrorKind::kUsage,
              fmt::format("kernel '{}' is on pairs of sample and class, so the model has no parts by kernel "
                          "and no learned kernel on samples",
                          content.pairs.kernels.front().name));
}

// Calls use(content, samples, positions) for all samples at once, or by the views that they lack: with the
// model without kernels on these, and the positions of the samples. A kernel that was trained on samples
// without its view knows them itself.
template <class Use>
void ForEachPattern(const ModelContent& content, const NewSamples& samples, Use use) {
  const std::vector<MissingPattern> patterns = SplitByMissing(content, samples.views, samples.count);
  if (patterns.empty()) {
    std::vector<Index> all(samples.count);
    std::iota(all.begin(), all.end(), Index{0});
    return use(content, samples, all, std::vector<bool>(content.kernels.size(), false));
  }
  if (samples.matrices.rows >= 0 || samples.pairs.samples >= 0) {
    throw Error(ErrorKind::kData,
                "new samples lack a view that all training samples had, which cannot be combined with "
                "precomputed kernels");
  }
  for (const MissingPattern& pattern : patterns) {
    NewSamples own{{}, {}, {}, static_cast<Index>(pattern.samples.size())};
    for (const View& view : samples.views) own.views.push_back(SelectSamples(view, pattern.samples));
    use(pattern.content, own, pattern.samples, pattern.is_missing);
  }
}

}  // namespace

std::vector<double> Decide(const ModelContent& content, const Dataset& data, const PredictOptions& options,
                           const Context& context) {
  const NewSamples samples = MatchSamples(content, data, options);
  const Index outputs = content.outputs();
  std::vector<double> decision(samples.count * outputs);
  ForEachPattern(content, samples,
                 [&](const ModelContent& model, const NewSamples& own, std::span<const Index> at,
                     const std::vector<bool>&) {
                   ForEachSample(model, own, context, [&](Index i, std::span<const double> values) {
                     CombineMachines(model, values, std::span(decision).subspan(at[i] * outputs, outputs));
                   });
                 });
  if (samples.pairs.samples >= 0) {
    ThreadPool pool(context.threads);
    AddPairs(content, samples.pairs, pool, decision);
  }
  RequireFinite(decision, outputs, data);
  return decision;
}

std::vector<double> DecideByMachine(const ModelContent& content, const Dataset& data,
                                    const PredictOptions& options, const Context& context) {
  RequireKernelsOnSamples(content);
  const NewSamples samples = MatchSamples(content, data, options);
  const auto machines = static_cast<Index>(content.machines.size());
  std::vector<double> functions(samples.count * machines);
  ForEachPattern(content, samples,
                 [&](const ModelContent& model, const NewSamples& own, std::span<const Index> at,
                     const std::vector<bool>&) {
                   ForEachSample(model, own, context, [&](Index i, std::span<const double> values) {
                     std::ranges::copy(values, functions.begin() + at[i] * machines);
                   });
                 });
  RequireFinite(functions, machines, data);
  return functions;
}

std::vector<double> DecideByKernel(const ModelContent& content, const Dataset& data,
                                   const PredictOptions& options, const Context& context, Index machine) {
  RequireKernelsOnSamples(content);
  const NewSamples samples = MatchSamples(content, data, options);
  const Index kernels = content.kernels.size();
  std::vector<double> parts(samples.count * kernels);
  ForEachPattern(content, samples,
                 [&](const ModelContent& model, const NewSamples& own, std::span<const Index> at,
                     const std::vector<bool>& is_missing) {
                   const ModelMachine& one = model.machines[machine];
                   ForEachBlock(model, own, context, [&](Gram& gram, ThreadPool&, Index begin, Index end) {
                     const auto expansion = gram.Expand(one.beta.ToDense(content.sample_indices.size()));
                     std::vector<double> theta(kernels), out(end - begin);
                     for (Index m = 0; m < kernels; ++m) {
                       theta[m] = one.theta[m];
                       expansion->Outputs(theta, out);
                       theta[m] = 0;
                       const double mean = is_missing[m] ? one.mean_parts[m] : 0;
                       for (Index i = begin; i < end; ++i) parts[at[i] * kernels + m] = out[i - begin] + mean;
                     }
                   });
                 });
  RequireFinite(parts, kernels, data);
  return parts;
}

std::vector<double> LearnedKernelValues(const ModelContent& content, const Dataset& data,
                                        const PredictOptions& options, const Context& context,
                                        Index machine) {
  RequireKernelsOnSamples(content);
  const NewSamples samples = MatchSamples(content, data, options);
  if (!SplitByMissing(content, samples.views, samples.count).empty()) {
    throw Error(
        ErrorKind::kData,
        "the learned kernel of samples without a view is known where training samples lacked it, too; "
        "here all had it");
  }
  const std::vector<double>& theta = content.machines[machine].theta;
  const Index stored = content.stored_count();
  std::vector<double> values(samples.count * stored);
  ForEachBlock(content, samples, context, [&](Gram& gram, ThreadPool&, Index begin, Index end) {
    const std::shared_ptr<const LearnedMatrix> learned = gram.Learn(theta);
    const Index count = end - begin;
    std::vector<double> rows(kRowsPerCall * count);
    for (Index first = 0; first < stored; first += kRowsPerCall) {
      std::vector<Index> batch(std::min(kRowsPerCall, stored - first));
      std::iota(batch.begin(), batch.end(), first);
      learned->Rows(batch, rows.data(), count);
      for (std::size_t r = 0; r < batch.size(); ++r) {
        for (Index i = 0; i < count; ++i) {
          values[(begin + i) * stored + batch[r]] = rows[r * count + i] + learned->shift();
        }
      }
    }
  });
  RequireFinite(values, stored, data);
  return values;
}

}  // namespace kweave
