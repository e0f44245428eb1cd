#include "train/regularizer_table.h"

#include <fmt/format.h>

#include <cmath>
#include <memory>
#include <string>
#include <utility>

#include "kweave/error.h"
#include "regularizer/bounded_norm.h"
#include "regularizer/elastic_norm.h"
#include "regularizer/entropy.h"
#include "regularizer/lp_norm.h"
#include "regularizer/lp_penalty.h"
#include "regularizer/matrix_norm.h"
#include "regularizer/mixed_norm.h"
#include "regularizer/norm_penalty.h"
#include "train/regularizer_choice.h"

namespace kweave {
namespace {

RegularizerPointer MakeNorm(const TrainOptions& options, RegularizerParts parts) {
  if (!options.weight_bounds.empty()) {
    return std::make_shared<const BoundedNorm>(options.norm, std::move(parts.lower), std::move(parts.upper));
  }
  if (options.penalty > 0) return std::make_shared<const LpPenalty>(options.penalty, options.norm);
  return options.block_norm > 0 ? BlockNorm(options.block_norm, parts.kernels) : LpConstraint(options.norm);
}

RegularizerPointer MakeMixed(const TrainOptions& options, RegularizerParts parts) {
  MixedNorm norm(std::move(parts.groups), OuterExponent(options), InnerExponent(options));
  if (options.penalty > 0) return std::make_shared<const NormPenalty>(options.penalty, std::move(norm));
  return std::make_shared<const MixedNorm>(std::move(norm));
}

RegularizerPointer MakeMatrix(const TrainOptions& options, RegularizerParts parts) {
  if (options.matrix_on == MatrixOn::kParts) {
    return std::make_shared<const PartMatrixNorm>(std::move(parts.matrix));
  }
  return std::make_shared<const WeightMatrixNorm>(std::move(parts.matrix));
}

RegularizerPointer MakeElastic(const TrainOptions& options, RegularizerParts) {
  return std::make_shared<const ElasticNorm>(options.elastic);
}

RegularizerPointer MakeEntropy(const TrainOptions& options, RegularizerParts) {
  return std::make_shared<const EntropyPenalty>(options.penalty);
}

RegularizerPointer MakeLogDeterminant(const TrainOptions& options, RegularizerParts parts) {
  return std::make_shared<const LogDeterminant>(LpConstraint(options.norm), options.penalty,
                                                DeterminantRidge(options), std::move(parts.kernel_matrix));
}

void Require(bool holds, std::string_view sentence, std::string_view field, std::string value,
             std::string_view rule) {
  if (!holds)
    throw Error(ErrorKind::kUsage, std::string(sentence),
                {std::string(field), std::move(value), std::string(rule)});
}

// Names of the regularisers that `takes` says yes to.
template <class Takes>
std::string Names(Takes takes) {
  std::string names;
  for (const RegularizerRecord& record : RegularizerTable()) {
    if (takes(record)) names.append(names.empty() ? "" : ", ").append(record.name);
  }
  return names;
}

void CheckPenalty(const TrainOptions& options, const RegularizerRecord& record) {
  const std::string penalty = fmt::format("{}", options.penalty);
  if (options.penalty > 0 && record.takes.penalty == Need::kRefused) {
    throw Error(
        ErrorKind::kUsage,
        fmt::format("`penalty` goes with `regularizer` {} only, not with {}",
                    Names([](const RegularizerRecord& r) { return r.takes.penalty != Need::kRefused; }),
                    record.name),
        {"penalty", penalty, "no penalty"});
  }
  Require(options.penalty > 0 || record.takes.penalty != Need::kRequired,
          fmt::format("`regularizer` {} needs a `penalty`", record.name), "penalty", penalty, "above 0");
}

void CheckNorms(const TrainOptions& options, const RegularizerRecord& record) {
  const std::string norm = fmt::format("{}", options.norm), block = fmt::format("{}", options.block_norm);
  const bool has_norm = options.norm != TrainOptions().norm, has_block = options.block_norm > 0;
  Require(!has_norm || !has_block, "`norm` and `block_norm` are two ways to say one thing; give one of them",
          "block_norm", block, "none beside a norm");
  Require(!has_norm || record.takes.norm,
          fmt::format("`regularizer` {} keeps the sum of the weights at 1; give no `norm`", record.name),
          "norm", norm, "none");
  Require(!has_block || record.takes.block_norm,
          fmt::format("`regularizer` {} takes no `block_norm`", record.name), "block_norm", block, "none");
  Require(!has_block || options.penalty == 0 || record.takes.groups,
          "a `penalty` goes with a `norm` on the weights, not with a `block_norm`", "block_norm", block,
          "none beside a penalty");
}

}  // namespace

double DeterminantRidge(const TrainOptions& options) {
  // With no ridge the penalty is infinite where the learned kernel loses rank. Kernels are normalised to a
  // variance of about 1, so this one keeps it finite and is small beside them.
  constexpr double kRidge = 1e-3;
  return options.ridge > 0 ? options.ridge : kRidge;
}

std::span<const RegularizerRecord> RegularizerTable() {
  static constexpr RegularizerRecord table[] = {
      {"norm",
       "A p-norm of at most 1 on the weights, a penalty on it, or a block norm on the parts.",
       MakeNorm,
       {.penalty = Need::kOptional, .block_norm = true, .bounds = true}},
      {"mixed",
       "A norm over groups of kernels of the norms within them.",
       MakeMixed,
       {.penalty = Need::kOptional, .block_norm = true, .groups = true}},
      {"matrix",
       "A norm that a positive definite matrix over the kernels makes.",
       MakeMatrix,
       {.matrix = true}},
      {"laplacian",
       "The same with the Laplacian of links between kernels: linked ones get similar weights.",
       MakeMatrix,
       {.matrix = true}},
      {"elastic", "A mean of the sum of the weights and their 2-norm.", MakeElastic, {.block_norm = true}},
      {"entropy",
       "Weights that sum to 1, and a price on their distance from equal ones.",
       MakeEntropy,
       {.penalty = Need::kRequired, .norm = false}},
      {"logdet",
       "A norm on the weights, and a price on a learned kernel matrix that loses rank.",
       MakeLogDeterminant,
       {.penalty = Need::kRequired, .kernel_matrix = true}},
  };
  return table;
}

const RegularizerRecord& FindRegularizer(const TrainOptions& options) {
  for (const RegularizerRecord& record : RegularizerTable()) {
    if (record.name == options.regularizer) return record;
  }
  const std::string names = Names([](const RegularizerRecord&) { return true; });
  throw Error(ErrorKind::kUsage,
              fmt::format("`regularizer` '{}' is not available; available: {}", options.regularizer, names),
              {"regularizer", options.regularizer, names});
}

void CheckRegularizer(const TrainOptions& options) {
  const RegularizerRecord& record = FindRegularizer(options);
  CheckNorms(options, record);
  CheckPenalty(options, record);
  const bool is_plain = options.block_norm == 0 && options.penalty == 0;
  Require(options.weight_bounds.empty() || (record.takes.bounds && is_plain),
          "`weight_bounds` go with `regularizer` norm and a `norm` on the weights only, without a `penalty`",
          "weight_bounds", options.weight_bounds.empty() ? "" : options.weight_bounds[0].first, "none");
  if (record.takes.matrix == options.matrix.empty()) {
    const std::string takers = Names([](const RegularizerRecord& r) { return r.takes.matrix; });
    throw Error(ErrorKind::kUsage,
                fmt::format("`regularizer` {} need a `matrix`, and no other takes one", takers),
                {"matrix", options.matrix, record.takes.matrix ? "a file or kind of alignment" : "none"});
  }
  Require(record.takes.groups != options.groups.empty(),
          "`regularizer` mixed needs `groups`, and no other takes them", "groups", options.groups,
          record.takes.groups ? "view, spec or a file" : "none");
  // The root of a quadratic is 0 at the optimum beside a part that is not, so that no weight makes it.
  Require(!record.takes.groups || !std::isinf(options.block_norm) || options.inner_norm > 1,
          "a `block_norm` of inf over groups with an `inner_norm` of 1 has no kernel weights at its optimum; "
          "give an `inner_norm` above 1, or a finite `block_norm`",
          "inner_norm", fmt::format("{}", options.inner_norm), "above 1");
}

}  // namespace kweave
