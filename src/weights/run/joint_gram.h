// Kernels on pairs of sample and class: products of a kernel on samples and one on classes (Zien, Ong 2007,
// eq. (12)), and any others that are given as such.
//
// Solves   k((x, u), (z, v)) = k_X(x, z) k_Y(u, v) for every k_X of a Gram and every k_Y given, kernel x |Y|
//          + y for input kernel x and class kernel y; after them those given. Vectors over pairs hold class
//          after class: entry u n + i.
// Method   an expansion is one of the Gram for each class; class kernels mix the results. Given kernels have
//          a Gram over pairs, which is asked as it is.
// Takes    a Gram and matrices over the classes, and a Gram over pairs or none; is a Gram itself, over n m
//          pairs.
// Holds    no matrix over pairs. Rows include what those of the Grams leave out.
// Costs    an expansion of the Gram for each class, whose nonzero entries are its support vectors only;
//          products between classes for those pairs that some class kernel joins.
#ifndef KWEAVE_WEIGHTS_RUN_JOINT_GRAM_H_
#define KWEAVE_WEIGHTS_RUN_JOINT_GRAM_H_

#include <memory>
#include <span>
#include <vector>

#include "gram/gram.h"

namespace kweave {

/// A kernel on classes, m x m, symmetric positive semidefinite.
using ClassMatrix = std::vector<double>;

/// K(theta) (x) A as part of a sum: theta over the kernels on samples, A over classes.
struct ClassTerm {
  std::vector<double> theta;
  ClassMatrix classes;
};

ClassMatrix IdentityClasses(Index classes);

class JointGram : public Gram {
 public:
  /// The Grams must outlive it. No matrices: the identity. `given` is over pairs, class after class; null:
  /// there are none.
  JointGram(Gram& samples, Index classes, std::span<const ClassMatrix> matrices, Gram* given = nullptr);

  std::vector<VectorAnswer> AnswerAll(std::span<const VectorRequest> requests) override;

  Gram& samples() const { return samples_; }
  Index classes() const { return classes_; }
  /// Kernels that are products, which come first.
  Index products() const { return samples_.kernels() * static_cast<Index>(matrices_.size()); }
  /// The kernels given as such, and their weights. Null: there are none.
  Gram* given() const { return given_; }
  std::span<const double> GivenTheta(std::span<const double> theta) const {
    return theta.subspan(static_cast<std::size_t>(products()));
  }
  std::span<const ClassMatrix> matrices() const { return matrices_; }
  /// The products of the learned kernel, as few as its weights allow.
  std::vector<ClassTerm> TermsAt(std::span<const double> theta) const;

 protected:
  std::shared_ptr<const LearnedMatrix> MakeLearned(std::span<const double> theta) override;

 private:
  Gram& samples_;
  const Index classes_;
  std::vector<ClassMatrix> matrices_;
  Gram* const given_;
};

}  // namespace kweave

#endif  // KWEAVE_WEIGHTS_RUN_JOINT_GRAM_H_
