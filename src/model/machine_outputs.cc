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
constexpr std::size_t kDenseBytes = std::size_t{64} << 20;      // of betas over all stored samples at a time
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
    support += std::ssize(machine.beta.positions);
  }
  return support >= kLeastMachinesPerSample * stored;
}

// The place of the first entry at or behind a position.
Index FirstFrom(const SparseVector& vector, Index position) {
  return std::ranges::lower_bound(vector.positions, position) - vector.positions.begin();
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
  shares_kernel_rows_ = !has_common_weights_ && SharesKernelRows(content, active_.size());
}

void MachineOutputs::Find(Gram& gram, ThreadPool& pool, std::span<double> out) const {
  std::ranges::fill(out, 0.0);
  if (has_common_weights_) return AddFromLearnedRows(gram, out);
  if (shares_kernel_rows_) return AddFromKernelRows(gram, pool, out);
  const std::size_t stored = content_.sample_indices.size(), machines = content_.machines.size();
  const std::size_t at_a_time =
      std::clamp<std::size_t>(kDenseBytes / (std::max<std::size_t>(stored, 1) * sizeof(double)), 1, machines);
  for (std::size_t first = 0; first < machines; first += at_a_time) {
    AddFromVectors(gram, first, std::min(first + at_a_time, machines), out);
  }
}

void MachineOutputs::AddFromVectors(Gram& gram, std::size_t first, std::size_t last,
                                    std::span<double> out) const {
  const Index count = gram.right_count();
  std::vector<std::vector<double>> betas;
  std::vector<VectorRequest> requests;
  for (std::size_t k = first; k < last; ++k) {
    const ModelMachine& machine = content_.machines[k];
    betas.push_back(machine.beta.ToDense(content_.sample_indices.size()));
    requests.push_back({.a = betas.back(), .theta = machine.theta, .wants_quadratics = false});
  }
  const std::vector<VectorAnswer> answers = gram.AnswerAll(requests);
  for (std::size_t k = first; k < last; ++k) {
    std::ranges::copy(answers[k - first].outputs, out.subspan(k * count, count).begin());
  }
}

void MachineOutputs::AddFromLearnedRows(Gram& gram, std::span<double> out) const {
  const Index count = gram.right_count();
  std::vector<double> rows(kRowsPerCall * count);
  for (Index first = 0; first < content_.stored_count(); first += kRowsPerCall) {
    std::vector<Index> batch(std::min(kRowsPerCall, content_.stored_count() - first));
    std::iota(batch.begin(), batch.end(), first);
    FillRows(gram, content_.machines[0].theta, batch, rows.data());
    const Index last = first + static_cast<Index>(batch.size());
    for (std::size_t k = 0; k < content_.machines.size(); ++k) {
      const SparseVector& beta = content_.machines[k].beta;
      for (Index at = FirstFrom(beta, first); at < std::ssize(beta.positions) && beta.positions[at] < last;
           ++at) {
        AddScaled<double>(rows.data() + (beta.positions[at] - first) * count, count, beta.values[at],
                          out.data() + k * count);
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
    pool.ParallelFor(content_.machines.size(), kMachinesPerPiece, [&](Index begin, Index end, int) {
      std::vector<const double*> rows;
      std::vector<double> factors;
      for (Index k = begin; k < end; ++k) {
        const SparseVector& beta = content_.machines[k].beta;
        rows.clear();
        factors.clear();
        for (Index at = FirstFrom(beta, first); at < std::ssize(beta.positions) && beta.positions[at] < last;
             ++at) {
          for (std::size_t a = 0; a < active_.size(); ++a) {
            const double factor = beta.values[at] * content_.machines[k].theta[active_[a]];
            if (factor == 0) continue;
            rows.push_back(values.data() + (a * most_rows + beta.positions[at] - first) * count);
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
