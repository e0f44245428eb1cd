#ifndef KWEAVE_GRAM_FAMILY_GROUP_H_
#define KWEAVE_GRAM_FAMILY_GROUP_H_

#include <memory>
#include <vector>

#include "gram/base_rows.h"
#include "gram/group.h"
#include "gram/make_gram.h"
#include "kernel/kernel_kind.h"

namespace kweave {

/// One kernel of a family: its place among all kernels, its parameters, and its normalisation factor.
struct FamilyMember {
  Index kernel = 0;
  KernelParameters parameters;
  double scale = 1;
};

/// Kernels that are one function of the same base quantity with different parameters. Whatever their number,
/// rows need one pass over the base; beyond a few members the family is evaluated from a table
/// (gram/family_table.h). `base` must outlive the group; where no other group reads it (`is_own_base`), it
/// may hold the variable of the table instead of the quantity.
template <class T>
std::unique_ptr<Group<T>> MakeFamilyGroup(const Shape& shape, std::vector<FamilyMember> members,
                                          BaseRows<T>& base, bool is_own_base, FamilyEvaluation evaluation,
                                          double learned_error);

}  // namespace kweave

#endif  // KWEAVE_GRAM_FAMILY_GROUP_H_
