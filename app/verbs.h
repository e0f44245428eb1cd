#ifndef KWEAVE_APP_VERBS_H_
#define KWEAVE_APP_VERBS_H_

#include <CLI/CLI.hpp>

namespace kweave::app {

/// Each adds one verb: its options, its help, and the callback that runs it.
void AddTrain(CLI::App& app);
void AddPredict(CLI::App& app);
void AddInspect(CLI::App& app);
void AddKernels(CLI::App& app);

}  // namespace kweave::app

#endif  // KWEAVE_APP_VERBS_H_
