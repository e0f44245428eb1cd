#ifndef KWEAVE_TRAIN_HUGE_VALUES_H_
#define KWEAVE_TRAIN_HUGE_VALUES_H_

#include <span>
#include <string>

#include "kweave/dataset.h"

namespace kweave {

/// A sentence that names columns of dense views whose largest value dwarfs the others, as a mark of a missing
/// value does (1e20, 9.97e36); empty where there are none.
std::string NoteOnHugeValues(std::span<const View> views);

}  // namespace kweave

#endif  // KWEAVE_TRAIN_HUGE_VALUES_H_
