// What the options ask to be minimised, beside the norm.
#ifndef KWEAVE_TRAIN_OBJECTIVE_H_
#define KWEAVE_TRAIN_OBJECTIVE_H_

#include <memory>
#include <span>

#include "kweave/options.h"
#include "loss/risk.h"

namespace kweave {

/// The loss asked for, or the task's own. A one-class machine without bias has the hinge loss and the label
/// +1. Throws Error(kUsage), naming those that would do, when there is none or it does not serve the task.
const LossRecord& EffectiveLoss(const TrainOptions& options);

/// One machine's loss over its samples: targets y_i and costs C_i, which must outlive it.
class Objective {
 public:
  Objective(std::span<const double> y, std::span<const double> upper, const TrainOptions& options);

  const Risk& risk() const { return risk_; }
  /// Added to f to decide: the bias found, or -1 for a one-class machine without one, whose margin is at 1.
  double DecisionBias(double bias) const { return is_margin_threshold_ ? -1 : bias; }

 private:
  std::unique_ptr<Loss> loss_;
  Risk risk_;
  bool is_margin_threshold_;
};

}  // namespace kweave

#endif  // KWEAVE_TRAIN_OBJECTIVE_H_
