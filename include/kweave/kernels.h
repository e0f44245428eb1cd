#ifndef KWEAVE_KERNELS_H_
#define KWEAVE_KERNELS_H_

#include <optional>
#include <string>
#include <vector>

#include "kweave/context.h"
#include "kweave/dataset.h"
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

/// One kernel of the kernel language, for those who offer it in a language of their own.
struct KernelDescription {
  std::string name;
  std::string class_name;  ///< for languages with classes; empty: the kernel is read from a file
  std::string sentence;    ///< its formula and meaning
  std::vector<KernelParameterDescription> parameters;
};

/// Every kernel of the kernel language.
std::vector<KernelDescription> KernelDescriptions();

/// What is known about one kernel on some samples before anything is learned.
struct KernelStatistics {
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
  std::vector<KernelStatistics> kernels;
  std::vector<double> alignment;
  std::vector<double>
      centered_alignment;  ///< the same after centring: what makes kernels alike to a machine with bias
  std::string ToText() const;
  std::string ToJson() const;
};

/// The most kernels that AnalyzeKernels compares, since it compares all pairs.
inline constexpr Index kMaximalAnalyzedKernels = 2000;

/// Uses options.kernels, options.normalize and nothing else of the options. Throws Error(kUsage) on too many
/// kernels.
KernelAnalysis AnalyzeKernels(const Dataset& data, const TrainOptions& options, const Context& context);

/// Writes every normalised kernel matrix as DIRECTORY/NNNN.npy (float64), numbered in the order given from 1,
/// and DIRECTORY/kernels.json with their names. Makes the directory. Throws Error(kResource) when it cannot
/// write.
void ExportKernels(const Dataset& data, const TrainOptions& options, const Context& context,
                   const std::string& directory);

}  // namespace kweave

#endif  // KWEAVE_KERNELS_H_
