#ifndef KWEAVE_TESTS_SUPPORT_VERIFIED_TRAIN_H_
#define KWEAVE_TESTS_SUPPORT_VERIFIED_TRAIN_H_

#include <gtest/gtest.h>

#include "kweave/train.h"
#include "kweave/verify.h"

namespace kweave {

/// Train, and a failure of the test unless plain loops find what the model claims. Where there are more
/// kernel values than some seconds are enough for, only the former.
inline Model TrainVerified(const Dataset& data, const TrainOptions& options, const Context& context,
                           const Model* start = nullptr) {
  constexpr double kMostValues = 1e9;
  Model model = Train(data, options, context, start);
  const auto samples = static_cast<double>(data.size);
  if (samples * samples * static_cast<double>(model.summary().kernels_total) > kMostValues) return model;
  const Verification found = Verify(model, data, {});
  EXPECT_TRUE(found.holds) << found.ToText();
  return model;
}

}  // namespace kweave

#endif  // KWEAVE_TESTS_SUPPORT_VERIFIED_TRAIN_H_
