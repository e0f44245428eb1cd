// What all machines of a model say about new samples, with as few kernel values as possible.
//
// Method   Machines on one learned kernel share its rows. Machines with weights of their own are expanded
//          together; where so many rest on the same stored samples that most of those serve several of them,
//          the rows of every single kernel are shared instead, each value evaluated once.
// Costs    Shared rows of single kernels: a multiply-add for every machine, support vector, kernel and new
//          sample; a batch of rows at a time.
#ifndef KWEAVE_MODEL_MACHINE_OUTPUTS_H_
#define KWEAVE_MODEL_MACHINE_OUTPUTS_H_

#include <span>
#include <vector>

#include "base/threads.h"
#include "gram/gram.h"
#include "model/content.h"

namespace kweave {

class MachineOutputs {
 public:
  /// The content must outlive it.
  explicit MachineOutputs(const ModelContent& content);

  /// out[k * count + j] is for machine k and sample j of the `count` at the right of the Gram, without bias.
  void Find(Gram& gram, ThreadPool& pool, std::span<double> out) const;

 private:
  void AddFromLearnedRows(Gram& gram, std::span<double> out) const;
  // Of machines first to last - 1.
  void AddFromVectors(Gram& gram, std::size_t first, std::size_t last, std::span<double> out) const;
  void AddFromKernelRows(Gram& gram, ThreadPool& pool, std::span<double> out) const;

  const ModelContent& content_;
  bool has_common_weights_;
  std::vector<Index> active_;        // kernels with a weight in some machine
  bool shares_kernel_rows_ = false;  // those of single kernels, each for all machines
};

}  // namespace kweave

#endif  // KWEAVE_MODEL_MACHINE_OUTPUTS_H_
