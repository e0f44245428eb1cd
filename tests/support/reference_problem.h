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
  std::vector<std::vector<double>> matrices;  ///< one n x n matrix per kernel
  std::vector<ReferenceOptimum> optima;
};

inline std::vector<double> ReferenceKernel(const std::vector<std::vector<double>>& x,
                                           const nlohmann::json& kernel) {
  const std::string kind = kernel.at("kind");
  const std::vector<std::size_t> columns = kernel.at("columns");
  const double scale = kernel.at("scale");
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
      if (kind == "rbf") value = std::exp(-kernel.at("gamma").get<double>() * distance);
      if (kind == "poly") {
        value = std::pow(kernel.at("gamma").get<double>() * inner + kernel.at("coef0").get<double>(),
                         kernel.at("degree").get<int>());
      }
      matrix.push_back(scale * value);
    }
  }
  return matrix;
}

/// All problems of one file. Tests run in the source folder.
inline std::vector<ReferenceProblem> LoadReferenceProblems(
    const std::string& path = "tests/reference/lp_norm.json") {
  std::ifstream file(path);
  if (!file) throw std::runtime_error("cannot open " + path);
  std::vector<ReferenceProblem> problems;
  const nlohmann::json document = nlohmann::json::parse(file);
  for (const nlohmann::json& json : document.at("problems")) {
    ReferenceProblem& problem = problems.emplace_back();
    problem.name = json.at("name");
    problem.y = json.at("y").get<std::vector<double>>();
    problem.upper = json.at("C").get<std::vector<double>>();
    const auto features = json.at("features").get<std::vector<std::vector<double>>>();
    for (const nlohmann::json& kernel : json.at("kernels")) {
      problem.matrices.push_back(ReferenceKernel(features, kernel));
    }
    for (const nlohmann::json& optimum : json.at("optima")) {
      const nlohmann::json& norm = optimum.at("norm");
      problem.optima.push_back(
          {norm.is_string() ? std::numeric_limits<double>::infinity() : norm.get<double>(),
           optimum.at("lower"), optimum.at("upper")});
    }
  }
  return problems;
}

}  // namespace kweave::testing

#endif  // KWEAVE_TESTS_SUPPORT_REFERENCE_PROBLEM_H_
