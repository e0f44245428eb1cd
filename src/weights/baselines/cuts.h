// The cuts z >= L_t - 1/2 theta' q_t that solves give, with the betas they come from.
#ifndef KWEAVE_WEIGHTS_BASELINES_CUTS_H_
#define KWEAVE_WEIGHTS_BASELINES_CUTS_H_

#include <span>
#include <vector>

#include "weights/models/mixture.h"
#include "weights/run/machine.h"

namespace kweave {

/// Points to be mixed whose quadratics lie on a straight line.
class Cuts : public MixtureModel {
 public:
  double unit() const override { return unit_; }
  std::span<const double> linear() const override { return linear_; }
  std::size_t kernels() const override { return quadratics_.front().size(); }
  void Quadratics(std::span<const double> w, std::span<double> q) const override;
  std::vector<double> Slopes(std::span<const double> w) const override;
  void AddCurvature(std::span<const double>, std::span<const int>, std::span<double>) const override {}

  std::size_t size() const { return linear_.size(); }
  /// Where there are too many cuts, the one that counts least leaves first. `mixture`, the last one, becomes
  /// one to start from.
  void Add(const Evaluation& at, std::vector<double>& mixture);
  /// To which the lowest point of all cuts is worth finding.
  static double PrecisionFor(double relative_gap);
  std::vector<double> Mix(std::span<const double> w) const;
  /// The highest cut, in units.
  double Highest(std::span<const double> theta) const;

 private:
  double unit_ = 1;
  std::vector<double> linear_;
  std::vector<std::vector<double>> quadratics_, betas_;
};

}  // namespace kweave

#endif  // KWEAVE_WEIGHTS_BASELINES_CUTS_H_
