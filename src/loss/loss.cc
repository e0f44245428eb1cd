#include "loss/loss.h"

#include "loss/epsilon_insensitive.h"
#include "loss/hinge.h"
#include "loss/one_class.h"

namespace kweave {

namespace {

template <class T>
std::unique_ptr<Loss> Make(const LossParameters&) {
  return std::make_unique<T>();
}

std::unique_ptr<Loss> MakeEpsilonInsensitive(const LossParameters& parameters) {
  return std::make_unique<EpsilonInsensitiveLoss>(parameters.epsilon);
}

}  // namespace

std::span<const LossRecord> LossTable() {
  static constexpr LossRecord table[] = {
      {"hinge", "max(0, 1 - y f), with y = +1 or -1: the support vector machine.", Task::kClassify,
       Make<HingeLoss>},
      {"epsilon-insensitive", "max(0, |f - y| - epsilon): support vector regression.", Task::kRegress,
       MakeEpsilonInsensitive},
      {"one-class", "max(0, rho - f), with the threshold rho learned too.", Task::kOneClass,
       Make<OneClassLoss>},
  };
  return table;
}

}  // namespace kweave
