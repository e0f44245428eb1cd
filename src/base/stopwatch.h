#ifndef KWEAVE_BASE_STOPWATCH_H_
#define KWEAVE_BASE_STOPWATCH_H_

#include <chrono>

namespace kweave {

/// Wall-clock seconds since construction.
class Stopwatch {
 public:
  double Seconds() const { return std::chrono::duration<double>(Clock::now() - start_).count(); }

 private:
  using Clock = std::chrono::steady_clock;
  Clock::time_point start_ = Clock::now();
};

/// Adds the life time of this object to a sum of seconds.
class ScopedSeconds {
 public:
  explicit ScopedSeconds(double& sum) : sum_(sum) {}
  ~ScopedSeconds() { sum_ += watch_.Seconds(); }
  ScopedSeconds(const ScopedSeconds&) = delete;
  ScopedSeconds& operator=(const ScopedSeconds&) = delete;

 private:
  double& sum_;
  Stopwatch watch_;
};

}  // namespace kweave

#endif  // KWEAVE_BASE_STOPWATCH_H_
