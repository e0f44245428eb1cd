#ifndef KWEAVE_COMPUTE_CPU_LISTED_FEATURES_H_
#define KWEAVE_COMPUTE_CPU_LISTED_FEATURES_H_

#include "kweave/index.h"

namespace kweave {

/// The features of a left sample that are not zero, and what a sum over features is for a left sample that is
/// zero everywhere: the sum differs from that only by the features listed.
template <class T>
struct ListedFeatures {
  const Index* columns = nullptr;  ///< of the right samples
  const T* at_zero = nullptr;      ///< for every right sample
};

}  // namespace kweave

#endif  // KWEAVE_COMPUTE_CPU_LISTED_FEATURES_H_
