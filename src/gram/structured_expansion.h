#ifndef KWEAVE_GRAM_STRUCTURED_EXPANSION_H_
#define KWEAVE_GRAM_STRUCTURED_EXPANSION_H_

#include <algorithm>
#include <cstdint>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "gram/gram.h"
#include "gram/group.h"

namespace kweave {

/// The expansions of all groups.
class StructuredExpansion : public Expansion {
 public:
  StructuredExpansion(std::vector<std::unique_ptr<GroupExpansion>> parts, Index size)
      : parts_(std::move(parts)), a_(size, 0.0) {}
  /// Parts that are those of `a` already.
  StructuredExpansion(std::vector<std::unique_ptr<GroupExpansion>> parts, std::vector<double> a)
      : parts_(std::move(parts)), a_(std::move(a)) {}

  /// for_parts(add) calls add(part number, chunk, pool) for every part. Returns the number of entries that changed.
  template <class ForParts>
  std::int64_t MoveTo(std::span<const double> a, ForParts for_parts) {
    std::vector<double> change(a_.size());
    for (std::size_t i = 0; i < a_.size(); ++i) change[i] = a[i] - a_[i];
    const SupportVector entries = MakeSupport(change);
    for_parts([&](Index part, Index, ThreadPool& pool) { parts_[part]->Add(entries, pool); });
    a_.assign(a.begin(), a.end());
    return static_cast<std::int64_t>(entries.rows.size());
  }
  std::span<const double> a() const { return a_; }

  void Quadratics(std::span<double> q) const override {
    std::ranges::fill(q, 0.0);
    for (const auto& part : parts_) part->Quadratics(a_, q);
  }
  void Products(std::span<const double> b, std::span<double> products) const override {
    std::ranges::fill(products, 0.0);
    for (const auto& part : parts_) part->Products(b, products);
  }
  void Outputs(std::span<const double> theta, std::span<double> out) const override {
    std::ranges::fill(out, 0.0);
    for (const auto& part : parts_) part->AddOutputs(theta, out);
  }

 private:
  std::vector<std::unique_ptr<GroupExpansion>> parts_;
  std::vector<double> a_;
};

}  // namespace kweave

#endif  // KWEAVE_GRAM_STRUCTURED_EXPANSION_H_
