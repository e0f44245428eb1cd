#include "kweave/error.h"
#include "train/multiclass.h"

namespace kweave {

LearnedMachines LearnJoint(const MulticlassRun&) {
  throw Error(ErrorKind::kUsage, "multiclass 'joint' is not available yet; available: auto, ovr, ovo");
}

}  // namespace kweave
