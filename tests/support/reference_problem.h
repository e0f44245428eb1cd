#ifndef KWEAVE_TESTS_SUPPORT_REFERENCE_PROBLEM_H_
#define KWEAVE_TESTS_SUPPORT_REFERENCE_PROBLEM_H_

#include <cmath>
#include <cstddef>
#include <fstream>
#include <limits>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <string>
#include <vector>

#include "loss/hinge.h"
#include "loss/risk.h"

namespace kweave::testing {

/// The optimum for one norm lies in [lower, upper].
struct ReferenceOptimum {
  double norm = 0;
  double lower = 0;
  double upper = 0;
};

/// A small problem with known optima, from tests/reference.
struct ReferenceProblem {
  std::string name;
  std::vector<double> y;
  std::vector<double> upper;                  ///< C_i
  std::vector<std::vector<double>> features;  ///< one row per sample
  std::vector<nlohmann::json> kernels;        ///< their definitions: kind, parameters, columns, scale
  std::vector<std::vector<double>> matrices;  ///< one n x n matrix per kernel
  std::vector<ReferenceOptimum> optima;
};

/// The problem must outlive the risk.
inline Risk HingeRisk(const ReferenceProblem& problem) {
  static const HingeLoss hinge;
  return {&hinge, problem.y, problem.upper};
}

inline std::vector<double> ReferenceKernel(const std::vector<std::vector<double>>& x,
                                           const nlohmann::json& kernel) {
  const std::string kind = kernel.at("kind");
  const std::vector<std::size_t> columns = kernel.at("columns");
  const double scale = kernel.at("scale");
  const double gamma = kernel.value("gamma", 0.0);
  const double coef0 = kernel.value("coef0", 0.0);
  const int degree = kernel.value("degree", 1);
  std::vector<double> matrix;
  for (const std::vector<double>& a : x) {
    for (const std::vector<double>& b : x) {
      double inner = 0;
      double distance = 0;
      for (const std::size_t j : columns) {
        inner += a[j] * b[j];
        distance += (a[j] - b[j]) * (a[j] - b[j]);
      }
      double value = inner;
      if (kind == "rbf") value = std::exp(-gamma * distance);
      if (kind == "poly") value = std::pow(gamma * inner + coef0, degree);
      matrix.push_back(scale * value);
    }
  }
  return matrix;
}

/// All problems of lp_norm.json, read once. Tests run in the source folder.
inline const std::vector<ReferenceProblem>& ReferenceProblems() {
  static const std::vector<ReferenceProblem> problems = [] {
    std::ifstream file("tests/reference/lp_norm.json");
    if (!file) throw std::runtime_error("cannot open tests/reference/lp_norm.json");
    const nlohmann::json document = nlohmann::json::parse(file);
    std::vector<ReferenceProblem> read;
    for (const nlohmann::json& json : document.at("problems")) {
      ReferenceProblem& problem = read.emplace_back();
      problem.name = json.at("name");
      problem.y = json.at("y").get<std::vector<double>>();
      problem.upper = json.at("C").get<std::vector<double>>();
      problem.features = json.at("features").get<std::vector<std::vector<double>>>();
      problem.kernels = json.at("kernels").get<std::vector<nlohmann::json>>();
      for (const nlohmann::json& kernel : problem.kernels) {
        problem.matrices.push_back(ReferenceKernel(problem.features, kernel));
      }
      for (const nlohmann::json& optimum : json.at("optima")) {
        const nlohmann::json& norm = optimum.at("norm");
        problem.optima.push_back(
            {norm.is_string() ? std::numeric_limits<double>::infinity() : norm.get<double>(),
             optimum.at("lower"), optimum.at("upper")});
      }
    }
    return read;
  }();
  return problems;
}

/// The problem of this name.
inline const ReferenceProblem& FindReferenceProblem(const std::string& name) {
  for (const ReferenceProblem& problem : ReferenceProblems()) {
    if (problem.name == name) return problem;
  }
  throw std::runtime_error("no reference problem " + name);
}

}  // namespace kweave::testing

#endif  // KWEAVE_TESTS_SUPPORT_REFERENCE_PROBLEM_H_
