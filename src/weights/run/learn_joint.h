// Learns kernel weights common to all classes together with one machine for all of them (Zien, Ong 2007).
//
// Next on the main path: weights/run/joint_machine.h.
#ifndef KWEAVE_WEIGHTS_RUN_LEARN_JOINT_H_
#define KWEAVE_WEIGHTS_RUN_LEARN_JOINT_H_

#include <span>

#include "base/run_control.h"
#include "loss/joint_risk.h"
#include "weights/run/joint_gram.h"
#include "weights/run/learn.h"

namespace kweave {

/// The regulariser + risk.
struct JointLearningProblem {
  JointRisk risk;
  RegularizerPointer regularizer;              ///< never null
  std::span<const ClassMatrix> matrices = {};  ///< kernels on the classes; none: the identity
  /// Kernels on pairs of sample and class that are no products, in the precision of those on samples; null:
  /// none.
  const GramPair* given = nullptr;
};

/// `gram` is over samples. Theta has an entry for each pair of a kernel on samples and one on classes, as
/// JointGram orders them, then one for each kernel given on pairs; beta one for each class and sample, class
/// after class; the certificate holds one bias for each class. Throws Error(kUsage) when method or loss do
/// not serve machines with several outputs.
Learned LearnJoint(const GramPair& gram, const JointLearningProblem& problem, const LearnOptions& options,
                   RunControl& control);

}  // namespace kweave

#endif  // KWEAVE_WEIGHTS_RUN_LEARN_JOINT_H_
