#ifndef KWEAVE_TESTS_SUPPORT_JOINT_PROBLEM_H_
#define KWEAVE_TESTS_SUPPORT_JOINT_PROBLEM_H_

#include <fstream>
#include <limits>
#include <memory>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <string>
#include <vector>

#include "loss/loss.h"
#include "regularizer/lp_norm.h"
#include "tests/support/matrix_gram.h"
#include "tests/support/reference_problem.h"
#include "weights/run/learn_joint.h"

namespace kweave::testing {

/// A small problem with several classes and known optima, from tests/reference.
struct JointReference {
  std::string name;
  std::vector<Index> y;
  std::vector<double> C;
  Index classes = 0;
  bool has_bias = true;
  std::shared_ptr<Loss> loss;
  std::vector<std::vector<double>> matrices;
  std::vector<ClassMatrix> class_matrices;
  std::vector<std::vector<double>>
      pair_matrices;  ///< kernels on pairs, class after class; most problems have none
  std::vector<ReferenceOptimum> optima;

  JointRisk risk() const { return {loss.get(), y, C, classes, has_bias}; }
};

inline std::unique_ptr<Loss> LossNamed(const std::string& name) {
  for (const LossRecord& record : LossTable()) {
    if (record.name == name) return record.make({});
  }
  throw std::runtime_error("no loss " + name);
}

/// A matrix over pairs, those of one sample together, with those of one class together instead.
inline std::vector<double> ClassAfterClass(const std::vector<double>& matrix, std::size_t samples,
                                           std::size_t classes) {
  const std::size_t pairs = samples * classes;
  const auto place = [&](std::size_t k) { return k % samples * classes + k / samples; };
  std::vector<double> ordered;
  for (std::size_t r = 0; r < pairs; ++r) {
    for (std::size_t c = 0; c < pairs; ++c) ordered.push_back(matrix[place(r) * pairs + place(c)]);
  }
  return ordered;
}

inline std::vector<JointReference> ReadJointReferences(const std::string& path) {
  std::ifstream file(path);
  if (!file) throw std::runtime_error("cannot open " + path);
  const nlohmann::json document = nlohmann::json::parse(file);
  std::vector<JointReference> read;
  for (const nlohmann::json& json : document.at("problems")) {
    JointReference& problem = read.emplace_back();
    problem.name = json.at("name");
    problem.y = json.at("y").get<std::vector<Index>>();
    problem.C = json.at("C").get<std::vector<double>>();
    problem.classes = json.at("classes");
    problem.has_bias = json.at("bias");
    problem.loss = LossNamed(json.at("loss"));
    const auto features = json.at("features").get<std::vector<std::vector<double>>>();
    for (const nlohmann::json& kernel : json.at("kernels")) {
      problem.matrices.push_back(ReferenceKernel(features, kernel));
    }
    for (const nlohmann::json& rows : json.at("class_kernels")) {
      ClassMatrix& matrix = problem.class_matrices.emplace_back();
      for (const nlohmann::json& row : rows) {
        for (const nlohmann::json& value : row) matrix.push_back(value);
      }
    }
    for (const nlohmann::json& kernel : json.value("pair_kernels", nlohmann::json::array())) {
      const auto points = json.at("points").get<std::vector<std::vector<double>>>();
      problem.pair_matrices.push_back(ClassAfterClass(ReferenceKernel(points, kernel), problem.y.size(),
                                                      static_cast<std::size_t>(problem.classes)));
    }
    for (const nlohmann::json& optimum : json.at("optima")) {
      const nlohmann::json& norm = optimum.at("norm");
      problem.optima.push_back(
          {norm.is_string() ? std::numeric_limits<double>::infinity() : norm.get<double>(),
           optimum.at("lower"), optimum.at("upper")});
    }
  }
  return read;
}

/// All problems of joint.json, read once. Tests run in the source folder.
inline const std::vector<JointReference>& JointReferences() {
  static const std::vector<JointReference> problems = ReadJointReferences("tests/reference/joint.json");
  return problems;
}

inline const JointReference& FindJointReference(const std::string& name) {
  for (const JointReference& problem : JointReferences()) {
    if (problem.name == name) return problem;
  }
  throw std::runtime_error("no joint problem " + name);
}

inline Learned LearnJoint(const JointReference& problem, double norm, const LearnOptions& options,
                          const Context& context = {}) {
  MatrixGram gram(problem.matrices, static_cast<Index>(problem.y.size())), pairs(problem.pair_matrices);
  RunControl control(context);
  const GramPair pair{&gram, false, [&gram]() -> Gram& { return gram; }};
  const GramPair given{&pairs, false, [&pairs]() -> Gram& { return pairs; }};
  return kweave::LearnJoint(pair,
                            {problem.risk(), LpConstraint(norm), problem.class_matrices,
                             problem.pair_matrices.empty() ? nullptr : &given},
                            options, control);
}

}  // namespace kweave::testing

#endif  // KWEAVE_TESTS_SUPPORT_JOINT_PROBLEM_H_
