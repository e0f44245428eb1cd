#ifndef KWEAVE_KERNEL_KERNEL_SET_H_
#define KWEAVE_KERNEL_KERNEL_SET_H_

#include <cstdint>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "data/matrix_file.h"
#include "kernel/kernel_kind.h"

namespace kweave {

/// Columns of a view that a kernel works on. An empty list means all of them.
using FeatureSubset = std::vector<std::int32_t>;

/// One kernel on one view.
struct KernelTerm {
  const KernelKind* kind = nullptr;
  KernelParameters parameters;
  std::int32_t view = 0;    ///< index into KernelSet::views
  std::int32_t subset = 0;  ///< index into KernelSet::subsets
  std::int32_t file = -1;   ///< index into KernelSet::files for precomputed kernels
};

/// Kernels of one kind on the same features: they differ in parameters only, and are described, not stored.
struct Family {
  const KernelKind* kind = nullptr;
  std::int32_t view = 0;
  std::int32_t subset = 0;
  std::int32_t file = -1;
  std::vector<KernelParameters> members;
};

/// A kernel built from others: `k1*k2`, `k1+k2`, `mean(...)`, in postfix order.
struct Composite {
  enum class Operation { kTerm, kProduct, kSum, kMean };
  struct Node {
    Operation operation = Operation::kTerm;
    std::int32_t argument = 0;  ///< kTerm: index into `terms`; else: how many values it takes from the stack
  };
  std::vector<KernelTerm> terms;
  std::vector<Node> nodes;
};

/// Where kernel m is described: families[family].members[member], or composites[member] when family is -1.
struct KernelId {
  std::int32_t family = 0;
  std::int32_t member = 0;
};

/// Where the values of a precomputed kernel are: in the file of that name, or in a matrix that the caller
/// holds.
struct MatrixSource {
  std::string name;
  std::shared_ptr<const MatrixFile> held = nullptr;

  MatrixFile Open() const { return held ? *held : MatrixFile::Open(name); }
};

/// The kernels of one problem, in the order given. A million of them take some tens of megabytes.
struct KernelSet {
  std::vector<std::string> views;  ///< names of the views
  /// Views were left out of several: names still say the view, and new samples must give it by name.
  bool had_more_views = false;
  std::vector<FeatureSubset> subsets{FeatureSubset{}};
  std::vector<MatrixSource> files;
  std::vector<Family> families;
  std::vector<Composite> composites;
  std::vector<KernelId> order;
  std::unordered_map<Index, std::string> given_names;  ///< where Name is not the plain description

  Index size() const { return static_cast<Index>(order.size()); }
  /// The unique, readable name of kernel m.
  std::string Name(Index m) const;
  /// The kernel's only term; must not be called for a composite.
  KernelTerm Term(Index m) const;
  /// Where its values come from: the view, the file of a precomputed kernel, or several of them.
  std::string Source(Index m) const;
  bool IsComposite(Index m) const { return order[m].family < 0; }
  /// Kernel m as an expression of its terms, of which there is one if it is not built from others.
  Composite Expression(Index m) const;
  /// True when a view is told from others by its name.
  bool NamesViews() const { return had_more_views || views.size() > 1; }
  /// The kernels in `kept` (ascending), with the names they have here and without the families, composites,
  /// views, subsets and files that nothing refers to.
  KernelSet Select(std::span<const Index> kept) const;
  /// Takes those of `files` that are called like one of `matrices` from there.
  void Hold(std::span<const GramMatrix> matrices);
  /// Forgets the matrices in memory, but not their names.
  void LetGo();
};

}  // namespace kweave

#endif  // KWEAVE_KERNEL_KERNEL_SET_H_
