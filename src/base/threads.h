#ifndef KWEAVE_BASE_THREADS_H_
#define KWEAVE_BASE_THREADS_H_

#include <cstddef>
#include <functional>
#include <memory>
#include <utility>

#include "kweave/index.h"

namespace kweave {

/// A fixed set of threads for loops over blocks. One loop at a time; the caller takes part in it.
class ThreadPool {
 public:
  /// 0 threads: as many as the process may use. Fewer when the system gives no more.
  explicit ThreadPool(int threads);
  ~ThreadPool();
  ThreadPool(const ThreadPool&) = delete;
  ThreadPool& operator=(const ThreadPool&) = delete;

  int size() const;

  /// Calls body(begin, end, thread) on pieces of [0, count), at most `grain` long, each once; waits for all.
  /// Which thread takes which piece is not fixed, so a body must not add across pieces in thread order.
  /// The first exception thrown by a body is thrown again here.
  void ParallelFor(Index count, Index grain, const std::function<void(Index, Index, int)>& body);

  /// Called by the thread that starts a loop, at its start and in front of the pieces it takes: what it
  /// throws ends the loop and is thrown there. Empty: nothing is called.
  void SetPoll(std::function<void()> poll);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

/// Polls in the loops of a pool for as long as it lives.
class ScopedPoll {
 public:
  ScopedPoll(ThreadPool& pool, std::function<void()> poll) : pool_(pool) { pool.SetPoll(std::move(poll)); }
  ~ScopedPoll() { pool_.SetPoll({}); }
  ScopedPoll(const ScopedPoll&) = delete;
  ScopedPoll& operator=(const ScopedPoll&) = delete;

 private:
  ThreadPool& pool_;
};

/// The number of cores the process may use (affinity and cgroup quota respected).
int AvailableThreads();

}  // namespace kweave

#endif  // KWEAVE_BASE_THREADS_H_
