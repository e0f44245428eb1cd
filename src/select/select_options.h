#ifndef KWEAVE_SELECT_SELECT_OPTIONS_H_
#define KWEAVE_SELECT_SELECT_OPTIONS_H_

#include <string>
#include <vector>

#include "kweave/scores.h"
#include "kweave/select.h"

namespace kweave {

/// Throws Error(kUsage) naming the field, its value and the rule it breaks.
void Validate(const SelectOptions& options);

/// Whether the baseline is asked for.
bool HasBaseline(const SelectOptions& options, const std::string& name);

/// Names and values of all scores that are defined.
std::vector<std::pair<std::string, double>> ScoreValues(const PredictionSummary& summary);
/// The score that `auto` stands for.
std::string EffectiveScore(const SelectOptions& options, Task task);
/// Whether smaller is better.
bool IsLoss(const std::string& score);

}  // namespace kweave

#endif  // KWEAVE_SELECT_SELECT_OPTIONS_H_
