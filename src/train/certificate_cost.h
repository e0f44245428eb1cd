#ifndef KWEAVE_TRAIN_CERTIFICATE_COST_H_
#define KWEAVE_TRAIN_CERTIFICATE_COST_H_

#include "base/run_control.h"
#include "gram/gram.h"

namespace kweave {

/// Measures on a few samples what a certificate takes, by the number of support vectors, and tells `control`,
/// which then stops early enough for it. Several machines do not tell their support vectors: time for all
/// samples is kept then, `most_seconds` of it at most; 0: one machine. Costs a few hundredths of a
/// certificate; nothing where there is no time limit or there are few samples.
void MeasureCertificateCost(Gram& exact, double most_seconds, RunControl& control);

}  // namespace kweave

#endif  // KWEAVE_TRAIN_CERTIFICATE_COST_H_
