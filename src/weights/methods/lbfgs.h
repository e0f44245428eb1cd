// Learns weights and machine together by quasi-Newton steps on the dual in beta alone.
//
// Solves     maximise over feasible beta  D(beta) = L(beta) - 1/2 ||q(beta)||_p*,  q_m = beta' K_m beta, for
//            norms above 1 and smooth losses, where D is differentiable.
// Method     limited-memory quasi-Newton steps, as Kloft et al. (2011), section 3.4, propose for the squared
//            loss. At theta = the best response to q the gradient is L'(beta) - f with f = K(theta) beta, so
//            theta moves with every step and nothing alternates. The diagonal that starts the quasi-Newton
//            matrix is the curvature of -L between beta and -C l'(f + b), the beta that the loss alone asks
//            for: it leads there in one step, which tames the logistic losses, whose curvature has no bound.
//            Variables that rest at an end of their interval are held (only the squared hinge has ends with
//            finite slopes); a step is made for the others on the plane sum beta = const and brought into the
//            intervals. Steps are shortened to the top of D along the line, which q at both ends and their
//            products describe.
// Takes and  kernels, problem, options; returns the theta and beta with the smallest P, certified.
// returns
// Holds      beta stays feasible and D never falls, so bounds are known after every step and it may end at
//            any time.
// Costs      per step one expansion, two where the step is shortened, and O(n) for each remembered pair; no
//            row of the learned kernel and no n x n matrix.
#ifndef KWEAVE_WEIGHTS_METHODS_LBFGS_H_
#define KWEAVE_WEIGHTS_METHODS_LBFGS_H_

#include "weights/run/learn.h"

namespace kweave {

Learned LearnByLbfgs(const GramPair& gram, const LearningProblem& problem, const LearnOptions& options,
                     RunControl& control);

}  // namespace kweave

#endif  // KWEAVE_WEIGHTS_METHODS_LBFGS_H_
