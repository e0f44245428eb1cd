// A kernel of one's own whose parameters are learned: periodic in time, with learned period and width.
//
//   K_ij = exp(-theta_0 sin^2(theta_1 (t_i - t_j)))
#include <kweave/kernel_function.h>

#include <cmath>
#include <cstdio>
#include <vector>

class Periodic : public kweave::KernelFunction {
 public:
  explicit Periodic(std::vector<double> times) : times_(std::move(times)) {}
  kweave::Index samples() const override { return static_cast<kweave::Index>(times_.size()); }
  kweave::Index parameters() const override { return 2; }

  void Row(std::span<const double> theta, kweave::Index i, std::span<double> out) const override {
    for (std::size_t j = 0; j < times_.size(); ++j) {
      const double s = std::sin(theta[1] * (times_[i] - times_[j]));
      out[j] = std::exp(-theta[0] * s * s);
    }
  }

  void AddGradient(std::span<const double> theta, kweave::Index i, std::span<const double> weights,
                   std::span<double> gradient) const override {
    for (std::size_t j = 0; j < times_.size(); ++j) {
      const double t = times_[i] - times_[j], s = std::sin(theta[1] * t), c = std::cos(theta[1] * t);
      const double value = weights[j] * std::exp(-theta[0] * s * s);
      gradient[0] -= value * s * s;
      gradient[1] -= value * theta[0] * 2 * s * c * t;
    }
  }

 private:
  std::vector<double> times_;
};

int main() {
  std::vector<double> times, labels;
  for (int i = 0; i < 120; ++i) {
    times.push_back(0.1 * i);
    labels.push_back(std::sin(2.6 * times.back()) > 0 ? 1 : -1);  // sin^2(1.3 t) has this period
  }
  const Periodic kernel(times);
  const std::vector<double> start = {1.0, 1.2};
  std::printf("derivatives are off by %.1e at most\n", kweave::CheckGradient(kernel, start));
  const kweave::BoxRegularizer box(0.1, 2, 0.01);
  const kweave::LearnedKernel learned = LearnKernel(kernel, box, labels, {.C = 10, .start = {1.0, 1.2}});
  std::printf("%s: width %.3f, frequency %.3f (true: 1.3)\n", std::string(ToString(learned.status)).c_str(),
              learned.theta[0], learned.theta[1]);
  return std::abs(learned.theta[1] - 1.3) < 0.02 ? 0 : 1;
}
