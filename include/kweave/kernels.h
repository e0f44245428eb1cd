#ifndef KWEAVE_KERNELS_H_
#define KWEAVE_KERNELS_H_

#include <optional>
#include <string>
#include <vector>

#include "kweave/context.h"
#include "kweave/dataset.h"
#include "kweave/model.h"
#include "kweave/options.h"

namespace kweave {

/// One line per kernel of the kernel language: how it is written and what it computes.
std::string KernelHelp();

/// One parameter of a kernel of the kernel language.
struct KernelParameterDescription {
  std::string name;
  std::string sentence;            ///< what it is
  std::string initial;             ///< its default, as written in the language
  bool follows_from_data = false;  ///< takes words such as `median` besides numbers
};

/// One kernel of the kernel language, as bindings to other languages need it.
struct KernelDescription {
  std::string name;
  std::string class_name;  ///< for languages with classes; empty: the kernel is read from a file
  std::string sentence;    ///< its formula and meaning
  std::vector<KernelParameterDescription> parameters;
};

/// Every kernel of the kernel language.
std::vector<KernelDescription> KernelDescriptions();

/// What is known about one kernel on some samples before anything is learned.
struct AnalyzedKernel {
  std::string name;
  double scale = 1;          ///< factor of the normalisation; 0: no variance over the samples
  double mean_diagonal = 0;  ///< of the normalised kernel
  double mean = 0;           ///< over all pairs, of the normalised kernel
  /// <K, yy'> / (||K|| ||yy'||) with y = +1 and -1; absent without two-class labels.
  std::optional<double> label_alignment;
  /// The same with both matrices centred; of any number of classes, or of several labels per sample, with Y
  /// Y', Y_iu = 1 where sample i is of class u, else 0. For two classes both are the same.
  std::optional<double> centered_label_alignment;
};

/// Alignments <K_a, K_b> / (||K_a|| ||K_b||) lie row after row, kernels x kernels.
struct KernelAnalysis {
  std::vector<AnalyzedKernel> kernels;
  std::vector<double> alignment;
  /// The same after centring: how alike two kernels are to a machine with a bias.
  std::vector<double> centered_alignment;
  std::string ToText() const;
  std::string ToJson() const;
};

/// The most kernels that AnalyzeKernels compares, since it compares all pairs.
inline constexpr Index kMaximalAnalyzedKernels = 2000;

/// Statistics and alignments of all kernels; of the options only `kernels` and `normalize` matter. Throws
/// Error(kUsage) on too many kernels.
///
///     kweave::TrainOptions options;
///     options.kernels = {"linear", "rbf(gamma=[0.1,1,10])"};
///     std::cout << kweave::AnalyzeKernels(data, options, kweave::Context()).ToText();
KernelAnalysis AnalyzeKernels(const Dataset& data, const TrainOptions& options, const Context& context);

/// The same of the heaviest kernels that a model has on views, on at most `most_samples` of the samples,
/// drawn by the seed; normalised as in training, by these samples.
KernelAnalysis AnalyzeModelKernels(const Model& model, const Dataset& data, Index most_kernels,
                                   Index most_samples, const Context& context);

/// Writes every normalised kernel matrix as DIRECTORY/NNNN.npy (float64), numbered in the order given from 1,
/// and DIRECTORY/kernels.json with their names. Makes the directory. Throws Error(kResource) when it cannot
/// write.
void ExportKernels(const Dataset& data, const TrainOptions& options, const Context& context,
                   const std::string& directory);

}  // namespace kweave

#endif  // KWEAVE_KERNELS_H_
