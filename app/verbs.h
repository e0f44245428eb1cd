#ifndef KWEAVE_APP_VERBS_H_
#define KWEAVE_APP_VERBS_H_

#include <CLI/CLI.hpp>

namespace kweave::app {

/// Each adds one verb: its options, its help, and the callback that runs it.
void AddTrain(CLI::App& app);
void AddPredict(CLI::App& app);
void AddInspect(CLI::App& app);
void AddKernels(CLI::App& app);
void AddVerify(CLI::App& app);
void AddEvaluate(CLI::App& app);
void AddSelect(CLI::App& app);
void AddReport(CLI::App& app);

/// Thrown by a verb that has said all there is to say, to end the program with this status.
struct ExitStatus {
  int status = 0;
};

}  // namespace kweave::app

#endif  // KWEAVE_APP_VERBS_H_
