#ifndef KWEAVE_APP_TERMINAL_H_
#define KWEAVE_APP_TERMINAL_H_

#include <string>
#include <string_view>

#include "kweave/error.h"

namespace kweave::app {

/// Wall-clock seconds since the program began; the first call starts the clock.
double SecondsSinceStart();

/// From now on the first SIGINT, SIGTERM or SIGHUP asks the run to stop and the second ends the program.
void CatchInterrupts();
/// From now on the first of these signals is answered with this line on standard error, at once and whatever
/// the program is at. `line` must live as long as the program; null: no answer.
void AnswerInterrupts(const char* line);
/// Whether the user asked to stop.
bool IsInterrupted();
/// The exit status of a program that a signal stopped, by the shell's convention: 130 (SIGINT), 143
/// (SIGTERM).
int InterruptedStatus();

/// Gives every standard stream a descriptor, so that no file opened later takes the place of a closed one.
void OccupyStandardStreams();

/// Text with every control character but tabs and line ends written as \xNN, so that names in
/// untrusted files cannot send commands to the terminal.
std::string Escaped(std::string_view text);

/// Takes care of signals for the whole run: SIGINT, SIGTERM and SIGHUP end it at once, also while an input
/// keeps it waiting, until CatchInterrupts; a file that is too large, or one that shrinks while it is read,
/// ends it in one sentence.
void HandleSignals();
/// From now on a lack of memory ends the program in one sentence, also where nothing may be thrown.
void HandleLackOfMemory();
/// Says that memory is lacking, without taking any; returns the exit status.
int FailWithoutMemory();
/// Throws Error(kResource) where a limit on the address space leaves too little for the matrix library, which
/// would wait for more for ever.
void CheckAddressSpace();

/// Writes to standard error. Text that cannot be written is lost without an error.
void PrintToStderr(std::string_view text);
/// Writes to standard output what the user asked for.
void Print(std::string_view text);
/// Writes to standard output what is only told along the way: its loss is no error.
void Tell(std::string_view text);
/// Flushes standard output; returns the exit status: 0, or 4 when what Print wrote could not be written.
int FinishOutput();

/// Writes `text` to a file, or to standard output when `path` is "-". Throws Error(kResource).
void WriteText(const std::string& path, std::string_view text);

/// The text of a small file that an option names, to its end. Throws Error(kind) when it is missing, a
/// directory, unreadable or empty.
std::string ReadText(const std::string& path, ErrorKind kind);

/// Throws Error(kUsage) unless a file can be made at `path` ("-" always can).
void CheckWritable(const std::string& path);

}  // namespace kweave::app

#endif  // KWEAVE_APP_TERMINAL_H_
