// The regularisers by name: what each of them takes of the options, and how it is made.
//
// A new one is a class in regularizer/, its test and one line of the table in regularizer_table.cc.
#ifndef KWEAVE_TRAIN_REGULARIZER_TABLE_H_
#define KWEAVE_TRAIN_REGULARIZER_TABLE_H_

#include <span>
#include <string_view>
#include <vector>

#include "kweave/options.h"
#include "regularizer/regularizer.h"
#include "weights/models/log_determinant.h"

namespace kweave {

/// What the options name, found for the kernels that are learned. Without kernels all is empty: such a
/// regulariser can tell what it can do, and nothing else.
struct RegularizerParts {
  std::vector<int> groups;           ///< number of the group of every kernel
  std::vector<double> matrix;        ///< over the kernels, row after row
  std::vector<double> lower, upper;  ///< bounds on the weights
  KernelMatrixFunction kernel_matrix = {};
  std::size_t kernels = 0;
};

enum class Need { kRefused, kOptional, kRequired };

/// What a regulariser takes of the options.
struct RegularizerNeeds {
  Need penalty = Need::kRefused;  ///< `penalty`
  bool norm = true;               ///< a `norm` other than the default
  bool block_norm = false;        ///< `block_norm` without a penalty
  bool bounds = false;            ///< `weight_bounds` without penalty and block norm
  bool groups = false;            ///< needs `groups`
  bool matrix = false;            ///< needs `matrix`
  bool kernel_matrix = false;     ///< needs RegularizerParts::kernel_matrix
};

/// One line of the table of regularisers.
struct RegularizerRecord {
  std::string_view name;
  std::string_view sentence;  ///< for the documentation
  RegularizerPointer (*make)(const TrainOptions& options, RegularizerParts parts);
  RegularizerNeeds takes;
};

std::span<const RegularizerRecord> RegularizerTable();

/// What logdet adds to the diagonal of the learned kernel matrix.
double DeterminantRidge(const TrainOptions& options);

/// The record of options.regularizer. Throws Error(kUsage) when there is none.
const RegularizerRecord& FindRegularizer(const TrainOptions& options);

/// Throws Error(kUsage) on options that the regulariser does not take together.
void CheckRegularizer(const TrainOptions& options);

}  // namespace kweave

#endif  // KWEAVE_TRAIN_REGULARIZER_TABLE_H_
