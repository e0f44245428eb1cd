#include "base/threads.h"

#include <sched.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <exception>
#include <fstream>
#include <mutex>
#include <string>
#include <thread>
#include <utility>
#include <vector>

namespace kweave {
namespace {

constexpr std::chrono::milliseconds kBetweenPolls{50};  // a key pressed to stop seems answered at once
// Loops often follow each other closely, and waking a thread takes longer than a short one lasts.
constexpr std::chrono::microseconds kMostSpinning{50};
constexpr int kChecksPerLook = 16;  // at the clock

// Waits for a condition without sleeping, but not for long.
template <class Condition>
void Spin(Condition is_true) {
  const auto end = std::chrono::steady_clock::now() + kMostSpinning;
  do {
    for (int check = 0; check < kChecksPerLook; ++check) {
      if (is_true()) return;
      std::this_thread::yield();
    }
  } while (std::chrono::steady_clock::now() < end);
}

}  // namespace

struct ThreadPool::State {
  std::mutex mutex;
  std::condition_variable wake;
  std::condition_variable done;
  std::vector<std::thread> workers;
  // Written under the mutex; read without it only to wait a moment before sleeping.
  std::atomic<bool> stopping = false;
  std::atomic<std::uint64_t> generation = 0;  // counts loops, so that a worker joins each loop once
  bool is_open = false;                       // workers may still join the current loop
  std::atomic<int> busy = 0;                  // workers inside the current loop

  // The current loop.
  const std::function<void(Index, Index, int)>* body = nullptr;
  Index count = 0;
  Index grain = 1;
  std::atomic<Index> next{0};
  std::exception_ptr failure;
  std::function<void()> poll;

  void Poll(int thread) const {
    if (thread == 0 && poll) poll();
  }

  void RunPieces(int thread) {
    try {
      for (Index begin = next.fetch_add(grain); begin < count; begin = next.fetch_add(grain)) {
        Poll(thread);
        (*body)(begin, std::min(begin + grain, count), thread);
      }
    } catch (...) {
      Fail();
    }
  }

  // Ends the loop with the exception that is being handled.
  void Fail() {
    next.store(count);
    std::lock_guard lock(mutex);
    if (!failure) failure = std::current_exception();
  }

  // Waits until no worker is inside the loop. Long pieces of others are no reason not to poll.
  void WaitForWorkers(std::unique_lock<std::mutex>& lock) {
    const auto is_idle = [&] { return busy == 0; };
    while (poll && !failure && !done.wait_for(lock, kBetweenPolls, is_idle)) {
      lock.unlock();
      try {
        poll();
      } catch (...) {
        Fail();
      }
      lock.lock();
    }
    done.wait(lock, is_idle);
  }

  void Work(int thread) {
    std::uint64_t seen = 0;
    for (;;) {
      Spin([&] { return stopping || generation != seen; });
      {
        std::unique_lock lock(mutex);
        wake.wait(lock, [&] { return stopping || (is_open && generation != seen); });
        if (stopping) return;
        seen = generation;
        ++busy;
      }
      RunPieces(thread);
      std::lock_guard lock(mutex);
      if (--busy == 0) done.notify_all();
    }
  }
};

ThreadPool::ThreadPool(int threads) : state_(std::make_unique<State>()) {
  if (threads <= 0) threads = AvailableThreads();
  try {
    state_->workers.reserve(threads - 1);
    for (int t = 1; t < threads; ++t) state_->workers.emplace_back([this, t] { state_->Work(t); });
  } catch (const std::exception&) {
    // The system gives no more threads or no memory for them: those that run do all the work.
  }
}

ThreadPool::~ThreadPool() {
  {
    std::lock_guard lock(state_->mutex);
    state_->stopping = true;
  }
  state_->wake.notify_all();
  for (std::thread& worker : state_->workers) worker.join();
}

int ThreadPool::size() const { return static_cast<int>(state_->workers.size()) + 1; }

void ThreadPool::SetPoll(std::function<void()> poll) { state_->poll = std::move(poll); }

void ThreadPool::ParallelFor(Index count, Index grain, const std::function<void(Index, Index, int)>& body) {
  if (count <= 0) return;
  state_->Poll(0);
  grain = std::max<Index>(grain, 1);
  if (state_->workers.empty() || count <= grain) {
    for (Index begin = 0; begin < count; begin += grain) {
      state_->Poll(0);
      body(begin, std::min(begin + grain, count), 0);
    }
    return;
  }
  State& state = *state_;
  {
    std::lock_guard lock(state.mutex);
    state.body = &body;
    state.count = count;
    state.grain = grain;
    state.next.store(0);
    state.failure = nullptr;
    state.is_open = true;
    ++state.generation;
  }
  state.wake.notify_all();
  state.RunPieces(0);
  // Nothing is left to start. A worker that has not woken by now is not waited for: on a busy machine that
  // would cost a slice of the scheduler for every loop.
  std::unique_lock lock(state.mutex);
  state.is_open = false;
  if (state.busy > 0) {
    lock.unlock();
    Spin([&] { return state.busy == 0; });
    lock.lock();
  }
  state.WaitForWorkers(lock);
  if (state.failure) std::rethrow_exception(state.failure);
}

namespace {

// The cgroup v2 quota in whole cores, or `fallback` when there is none.
int CgroupCores(int fallback) {
  std::ifstream file("/sys/fs/cgroup/cpu.max");
  std::string quota;
  double period = 0;
  if (!(file >> quota >> period) || quota == "max" || period <= 0) return fallback;
  const double cores = std::strtod(quota.c_str(), nullptr) / period;
  return cores > 0 ? std::max(1, static_cast<int>(cores + 0.5)) : fallback;
}

}  // namespace

int AvailableThreads() {
  cpu_set_t set;
  CPU_ZERO(&set);
  int cores = sched_getaffinity(0, sizeof(set), &set) == 0 ? CPU_COUNT(&set) : 0;
  if (cores <= 0) cores = static_cast<int>(std::thread::hardware_concurrency());
  return std::max(1, std::min(cores, CgroupCores(cores)));
}

}  // namespace kweave
