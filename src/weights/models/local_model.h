// Solves   for a model of J(theta) around a solved machine, and for the beta that goes with its minimum.
// Method   J is the maximum over beta of L(beta) - 1/2 beta' K(theta) beta. With theta + d and beta + x in
//          their place all is kept but the term of third order, -1/2 x' K(d) x, and so are the bounds of
//          beta: the model bends where samples become free or bound. A second derivative of J alone
//          (Chapelle, Rakotomamonjy: Second order optimization of kernel parameters, 2008) does not see that,
//          and with small C it is where most of the curvature is. Samples far from a change are not asked:
//          those well inside their bounds are eliminated beforehand as if they had none, those far from their
//          margin stay.
// Takes    the last evaluation, its machine, which has one output, and directions for theta; gives the saddle
//          problem, and beta + x for its solution.
// Holds    x = 0 solves it for d = 0, up to the precision of the machine. Every beta it returns is feasible.
// Costs    rows of the samples that move, one output per direction, F^3 / 3 + F^2 (E + K) multiplications for
//          F eliminated samples, E others and K directions; memory 8 (F + E) (F + E + K) bytes, twice.
#ifndef KWEAVE_WEIGHTS_MODELS_LOCAL_MODEL_H_
#define KWEAVE_WEIGHTS_MODELS_LOCAL_MODEL_H_

#include <cstddef>
#include <span>
#include <vector>

#include "weights/models/saddle_qp.h"
#include "weights/run/machine.h"

namespace kweave {

/// A direction in the space of theta that moves a few kernels only.
struct Direction {
  std::vector<Index> kernels;
  std::vector<double> weights;
};

/// Which samples a model lets move.
struct MovingSamples {
  std::vector<Index> bounded;  ///< with their bounds
  std::vector<Index>
      /// Without; the first keeps the sum of x at zero and stands among the bounded too. Without a bias it.
      free;
  ///< is one sample more, which is zero in every kernel
  bool has_all_free = true;  ///< every sample off its bounds moves
};

/// The matrix of the model is factored, in time cubic in these.
inline constexpr std::size_t kMostBoundedSamples = 192;
inline constexpr std::size_t kMostFreeSamples = 1024;  ///< of more an even choice stands for all

class LocalModel {
 public:
  LocalModel(const Evaluation& at, const Machine& machine, std::span<const Direction> directions,
             std::size_t most_bounded = kMostBoundedSamples);

  /// False when K(theta) is singular where it must not be.
  bool is_valid() const { return is_valid_; }
  /// t_k is the weight of direction k; entry i of x belongs to bounded sample i, times the unit of outputs:
  /// those are of order one.
  const SaddleProblem& problem() const { return problem_; }
  std::vector<double> Beta(const SaddlePoint& point) const;
  /// Whether that is a beta for the model's theta: of many free samples some moved and the others stayed.
  bool moves_all_free() const { return moving_.has_all_free; }

 private:
  void FillLinearTerms(const Machine& machine, std::span<const Direction> directions,
                       std::span<const double> residuals);
  void Eliminate(std::span<const double> kernel);
  void MeasureInUnits();

  const Evaluation& at_;
  const Risk& risk_;
  const double output_unit_;
  bool is_valid_ = true;
  MovingSamples moving_;
  std::vector<Index> samples_;               // bounded, then free but the first
  std::vector<double> residuals_, outputs_;  // of samples_: r, and K(e_k) beta for all directions
  SaddleProblem problem_;
  std::vector<double> factor_, reduced_;  // R of K on the free samples, and R^-1 (K to the bounded, G, r)
};

}  // namespace kweave

#endif  // KWEAVE_WEIGHTS_MODELS_LOCAL_MODEL_H_
