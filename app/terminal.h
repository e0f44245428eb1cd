#ifndef KWEAVE_APP_TERMINAL_H_
#define KWEAVE_APP_TERMINAL_H_

#include <string>
#include <string_view>

namespace kweave::app {

/// Thrown when the user stopped the program before a model could be written.
struct Interrupted {};

/// Wall-clock seconds since the program began; the first call starts the clock.
double SecondsSinceStart();

/// From now on the first SIGINT or SIGTERM asks the run to stop and the second ends the program.
void CatchInterrupts();
/// Whether the user asked to stop.
bool IsInterrupted();
/// Throws Interrupted if so.
void ThrowIfInterrupted();

/// A reader that has seen enough (`| head`) is no error.
void IgnoreBrokenPipes();

/// Gives every standard stream a descriptor, so that no file opened later takes the place of a closed one.
void OccupyStandardStreams();

/// Writes to standard error. Whether anybody can read it changes nothing: nothing is thrown or counted.
void Complain(std::string_view text);
/// Writes to standard output what the user asked for.
void Print(std::string_view text);
/// Writes to standard output what is only told along the way: its loss is no error.
void Tell(std::string_view text);
/// Flushes standard output; returns the exit status: 0, or 4 when what Print wrote could not be written.
int FinishOutput();

/// Writes `text` to a file, or to standard output when `path` is "-". Throws Error(kResource).
void WriteText(const std::string& path, std::string_view text);

/// Throws Error(kUsage) unless a file can be made at `path` ("-" always can).
void CheckWritable(const std::string& path);

}  // namespace kweave::app

#endif  // KWEAVE_APP_TERMINAL_H_
