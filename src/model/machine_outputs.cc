#include "model/machine_outputs.h"

#include <algorithm>
#include <memory>
#include <numeric>

#include "compute/cpu/family_loops.h"
#include "compute/cpu/smo_loops.h"
#include "gram/group.h"

namespace kweave {
namespace {

constexpr std::size_t kKernelRowBytes = std::size_t{16} << 20;  // of single kernels at a time
constexpr Index kMachinesPerPiece = 64;  // of sums over rows: far more work than handing out a piece
// Rows of single kernels: an expansion has so many functions whatever the number of kernels, ...
constexpr Index kMostKernels = 16;
// ... stored samples must serve so many machines on average, ...
constexpr Index kLeastMachinesPerSample = 8;
// ... and kernels with features, whose machines cost one product each and no rows, must not lose much.
constexpr Index kMostSamplesPerMachine = 4;

bool HaveCommonWeights(const ModelContent& content) {
  return std::ranges::all_of(content.machines, [&](const ModelMachine& machine) {
    return machine.theta == content.machines[0].theta;
  });
}

std::vector<Index> ActiveKernels(const ModelContent& content) {
  std::vector<Index> active;
  for (Index m = 0; m < content.kernels.size(); ++m) {
    if (std::ranges::any_of(content.machines, [m](const ModelMachine& one) { return one.theta[m] != 0; }))
      active.push_back(m);
  }
  return active;
}

bool SharesKernelRows(const ModelContent& content, Index active_kernels) {
  const Index stored = content.stored_count();
  if (stored == 0 || active_kernels > kMostKernels || !content.kernels.files.empty()) return false;
  if (kMostSamplesPerMachine * static_cast<Index>(content.machines.size()) < stored) return false;
  Index support = 0;
  for (const ModelMachine& machine : content.machines) {
    support += std::ranges::count_if(machine.beta, [](double beta) { return beta != 0; });
  }
  return support >= kLeastMachinesPerSample * stored;
}

// Rows of a Gram, with what they leave out.
void FillRows(Gram& gram, std::span<const double> theta, std::span<const Index> rows, double* out) {
  const Index count = gram.right_count();
  const std::shared_ptr<const LearnedMatrix> learned = gram.Learn(theta);
  learned->Rows(rows, out, count);
  for (double& value : std::span(out, rows.size() * count)) value += learned->shift();
}

}  // namespace

MachineOutputs::MachineOutputs(const ModelContent& content)
    : content_(content),
      has_common_weights_(content.machines.size() > 1 && HaveCommonWeights(content)),
      active_(ActiveKernels(content)) {
  if (has_common_weights_ || !SharesKernelRows(content, active_.size())) return;
  for (const ModelMachine& machine : content.machines) {
    Support& support = supports_.emplace_back();
    for (Index i = 0; i < content.stored_count(); ++i) {
      if (machine.beta[i] == 0) continue;
      support.rows.push_back(i);
      support.betas.push_back(machine.beta[i]);
    }
  }
}

void MachineOutputs::Find(Gram& gram, ThreadPool& pool, std::span<double> out) const {
  std::ranges::fill(out, 0.0);
  if (has_common_weights_) return AddFromLearnedRows(gram, out);
  if (!supports_.empty()) return AddFromKernelRows(gram, pool, out);
  const Index count = gram.right_count();
  std::vector<VectorRequest> requests;
  for (const ModelMachine& machine : content_.machines) {
    requests.push_back({.a = machine.beta, .theta = machine.theta, .wants_quadratics = false});
  }
  const std::vector<VectorAnswer> answers = gram.AnswerAll(requests);
  for (std::size_t k = 0; k < answers.size(); ++k) {
    std::ranges::copy(answers[k].outputs, out.subspan(k * count, count).begin());
  }
}

void MachineOutputs::AddFromLearnedRows(Gram& gram, std::span<double> out) const {
  const Index count = gram.right_count();
  std::vector<double> rows(kRowsPerCall * count);
  for (Index first = 0; first < content_.stored_count(); first += kRowsPerCall) {
    std::vector<Index> batch(std::min(kRowsPerCall, content_.stored_count() - first));
    std::iota(batch.begin(), batch.end(), first);
    FillRows(gram, content_.machines[0].theta, batch, rows.data());
    for (std::size_t k = 0; k < content_.machines.size(); ++k) {
      for (std::size_t r = 0; r < batch.size(); ++r) {
        const double factor = content_.machines[k].beta[batch[r]];
        if (factor != 0) AddScaled<double>(rows.data() + r * count, count, factor, out.data() + k * count);
      }
    }
  }
}

void MachineOutputs::AddFromKernelRows(Gram& gram, ThreadPool& pool, std::span<double> out) const {
  const Index count = gram.right_count(), stored = content_.stored_count();
  const std::size_t row_bytes = std::max<std::size_t>(active_.size() * count, 1) * sizeof(double);
  const Index most_rows = std::clamp<Index>(static_cast<Index>(kKernelRowBytes / row_bytes), 1, stored);
  std::vector<double> values(active_.size() * most_rows * count);  // kernel after kernel
  for (Index first = 0; first < stored; first += most_rows) {
    std::vector<Index> batch(std::min(most_rows, stored - first));
    std::iota(batch.begin(), batch.end(), first);
    for (std::size_t a = 0; a < active_.size(); ++a) {
      std::vector<double> theta(content_.kernels.size(), 0.0);
      theta[active_[a]] = 1;
      FillRows(gram, theta, batch, values.data() + a * most_rows * count);
    }
    const Index last = first + static_cast<Index>(batch.size());
    pool.ParallelFor(supports_.size(), kMachinesPerPiece, [&](Index begin, Index end, int) {
      std::vector<const double*> rows;
      std::vector<double> factors;
      for (Index k = begin; k < end; ++k) {
        const Support& support = supports_[k];
        rows.clear();
        factors.clear();
        auto at = std::ranges::lower_bound(support.rows, first) - support.rows.begin();
        for (; at < std::ssize(support.rows) && support.rows[at] < last; ++at) {
          for (std::size_t a = 0; a < active_.size(); ++a) {
            const double factor = support.betas[at] * content_.machines[k].theta[active_[a]];
            if (factor == 0) continue;
            rows.push_back(values.data() + (a * most_rows + support.rows[at] - first) * count);
            factors.push_back(factor);
          }
        }
        AddScaledRows(factors.data(), rows.data(), static_cast<Index>(rows.size()), 0, out.data() + k * count,
                      count);
      }
    });
  }
}

}  // namespace kweave
