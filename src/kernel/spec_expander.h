// Parsed specifications multiplied out into kernels.
#ifndef KWEAVE_KERNEL_SPEC_EXPANDER_H_
#define KWEAVE_KERNEL_SPEC_EXPANDER_H_

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/hash_index.h"
#include "kernel/kernel_names.h"
#include "kernel/kernel_set.h"
#include "kernel/kernel_spec.h"
#include "kernel/widths.h"
#include "kweave/dataset.h"

namespace kweave {

/// Adds the kernels of one specification after the other to a set. A kernel costs some nanoseconds;
/// everything more expensive happens once per list, feature or family.
class SpecExpander {
 public:
  SpecExpander(std::span<const View> views, std::uint64_t seed, const Numbering& numbering,
               Index max_kernels);

  /// Throws Error(kUsage) above the largest number of kernels, Error(kData) where features are not what the
  /// kernels are defined for. `text` is what `spec` was parsed from.
  void Add(const KernelSpec& spec, std::string_view text);

  /// The kernels of all specifications, with unique names.
  KernelSet Finish();

 private:
  struct Place;  // a term's view and subsets, found once per specification and view

  void AddOnView(const KernelSpec& spec, std::string_view text, std::int32_t free_view);
  void AddOnFittingViews(const KernelSpec& spec, std::string_view text);
  std::vector<std::int32_t> Windows(const SpecTerm& term, const SpecAxis& axis, std::int32_t view,
                                    std::string_view text);
  static bool Fits(const KernelKind& kind, const View& view);
  void CheckView(const KernelKind& kind, const View& view, std::string_view text, std::size_t position) const;
  std::vector<Place> FindPlaces(const KernelSpec& spec, std::string_view text, std::int32_t free_view);
  KernelTerm MakeTerm(const KernelSpec& spec, const SpecTerm& term, const Place& place,
                      std::span<const Index> at);
  double Width(const SpecValue& value, const KernelTerm& term, std::size_t parameter);
  void AddSingle(const KernelTerm& term);
  std::int32_t FamilyIndex(const KernelTerm& term);
  void CheckCount(double kernels, std::size_t terms, std::string_view text) const;
  std::int32_t SubsetIndex(FeatureSubset subset);
  std::int32_t FileIndex(const std::string& file);
  void CheckNonnegative(const KernelKind& kind, std::int32_t view, const FeatureSubset& subset);

  std::span<const View> views_;
  const Numbering& numbering_;
  Index max_kernels_;
  Widths widths_;
  KernelSet set_;
  ShortWidths short_widths_;
  Index terms_total_ = 0;
  HashIndex subset_index_, file_index_, family_index_;  ///< into the lists of set_
  std::int32_t last_family_ = -1;
  /// Per view: the first sample with a negative value in each column, -1 for none; empty: not looked at yet.
  std::vector<std::vector<Index>> first_negative_;
};

}  // namespace kweave

#endif  // KWEAVE_KERNEL_SPEC_EXPANDER_H_
