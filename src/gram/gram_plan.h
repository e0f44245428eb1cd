#ifndef KWEAVE_GRAM_GRAM_PLAN_H_
#define KWEAVE_GRAM_GRAM_PLAN_H_

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <vector>

#include "gram/base_store.h"
#include "gram/family_group.h"
#include "gram/feature_table.h"
#include "gram/linear_group.h"
#include "gram/make_gram.h"
#include "gram/normalization.h"
#include "gram/run_group.h"
#include "gram/word_group.h"
#include "kernel/kernel_set.h"

namespace kweave {

/// What a Gram computes and keeps, and how much memory that takes: decided here, once. A Gram is made as its
/// plan says; forecasts add the plan up.
struct GramPlan {
  /// Kernels of one kind that are functions of one base quantity.
  struct Family {
    KernelTerm term;  ///< of its first kernel
    std::vector<FamilyMember> members;
    /// On a single feature, where few terms do: quadratics and outputs by sums over the samples
    /// (gram/feature_group.h). Measured, without its matrices.
    std::optional<FeatureTable> table;
    bool reads_base =
        true;  ///< for its rows; false: they come from all features together (gram/feature_rows.h)
  };
  /// The linear kernels of one view, through its features.
  struct Linear {
    std::int32_t view = 0;
    std::vector<LinearMember> members;
    bool keeps_products = false;  ///< their matrix is kept like a base
    std::size_t bytes = 0;
  };
  /// Weighted degrees of the sequences of one view, through their words.
  struct Runs {
    std::int32_t view = 0;
    std::vector<RunMember> members;
    std::size_t bytes = 0;
  };
  /// Sums over words of the sequences of one view: of equal ones all, of near ones one kernel.
  struct Words {
    std::int32_t view = 0;
    bool are_equal = true;
    std::vector<WordMember> members;
    std::size_t bytes = 0;
  };
  struct Base {
    BasePlan plan;
    Index readers = 0;  ///< families and single kernels
  };

  std::vector<Family> families;
  std::vector<Linear> linear;
  std::vector<Runs> runs;
  std::vector<Words> words;
  std::vector<Index> singles;  ///< built from others, or normalised by more than a factor
  std::map<BaseKey, Base> bases;
  FeatureMatrices matrices;  ///< what tables of features share; filled when the Gram is made

  std::size_t table_bytes = 0;  ///< of the tables of single features with their samples and rows

  /// Matrices of base quantities, computed or in files.
  Index MatrixCount() const;
  /// Of those, the ones that a cache between calls is of use for: expensive to compute again, or in files.
  Index CachedCount() const;
  /// Copies of samples, and tables. Caches and kept bases are not in it.
  std::size_t Bytes() const;
  bool HasSharedBases() const;
};

/// For a Gram in float32 or float64. Kernels that are left out are in no part. The kernels must outlive the
/// plan.
GramPlan PlanGram(const KernelSet& kernels, const Sides& sides, const Normalization& normalization,
                  FamilyEvaluation evaluation, bool use_float);

}  // namespace kweave

#endif  // KWEAVE_GRAM_GRAM_PLAN_H_
