#include "kernel/shape.h"

#include <algorithm>
#include <cmath>
#include <vector>

namespace kweave {
namespace {

template <class T>
constexpr T kOne[] = {T{1}};

template <class T>
class ExponentialLoops : public MemberLoops<T> {
 public:
  explicit ExponentialLoops(std::span<const KernelParameters> members) {
    gammas_.reserve(members.size());
    for (const KernelParameters& member : members) gammas_.push_back(static_cast<T>(member[0]));
  }
  void Add(const T* base, Index count, std::span<const T> weights, T* out) const override {
    AddExponentials<T>(base, count, gammas_, weights, out);
  }
  void AddMoments(const WeightedRows<T>& base, Index count, T* moments, Index stride) const override {
    AddExponentialMoments<T>(base, count, gammas_, moments, stride);
  }
  void Values(std::size_t m, const T* base, Index count, T* out) const override {
    std::fill_n(out, count, T{0});
    AddExponentials<T>(base, count, std::span(gammas_).subspan(m, 1), kOne<T>, out);
  }

 private:
  std::vector<T> gammas_;
};

template <class T>
class PowerLoops : public MemberLoops<T> {
 public:
  explicit PowerLoops(std::vector<PowerTerm<T>> terms) : terms_(std::move(terms)) {}
  void Add(const T* base, Index count, std::span<const T> weights, T* out) const override {
    AddPowers<T>(base, count, terms_, weights, out);
  }
  void AddMoments(const WeightedRows<T>& base, Index count, T* moments, Index stride) const override {
    AddPowerMoments<T>(base, count, terms_, moments, stride);
  }
  void Values(std::size_t m, const T* base, Index count, T* out) const override {
    std::fill_n(out, count, T{0});
    AddPowers<T>(base, count, std::span(terms_).subspan(m, 1), kOne<T>, out);
  }

 private:
  std::vector<PowerTerm<T>> terms_;
};

// By squaring: degrees are small, and std::pow takes ten times as long.
double IntegerPower(double value, int degree) {
  double result = 1;
  for (; degree > 0; degree /= 2, value *= value) {
    if (degree % 2 == 1) result *= value;
  }
  return result;
}

double Identity(const KernelParameters&, double base) { return base; }

template <class T>
std::unique_ptr<MemberLoops<T>> IdentityLoops(std::span<const KernelParameters> members) {
  return std::make_unique<PowerLoops<T>>(std::vector<PowerTerm<T>>(members.size()));
}

double ExponentialLessOne(const KernelParameters& parameters, double base) {
  return std::expm1(-parameters[0] * base);
}

template <class T>
std::unique_ptr<MemberLoops<T>> MakeExponentialLoops(std::span<const KernelParameters> members) {
  return std::make_unique<ExponentialLoops<T>>(members);
}

double Power(const KernelParameters& parameters, double base) {
  const auto& [degree, gamma, coef0] = parameters;
  return IntegerPower(gamma * base + coef0, static_cast<int>(degree));
}

template <class T>
std::unique_ptr<MemberLoops<T>> MakePowerLoops(std::span<const KernelParameters> members) {
  std::vector<PowerTerm<T>> terms;
  terms.reserve(members.size());
  for (const auto& [degree, gamma, coef0] : members) {
    terms.push_back({static_cast<T>(gamma), static_cast<T>(coef0), static_cast<int>(degree)});
  }
  return std::make_unique<PowerLoops<T>>(std::move(terms));
}

double ExponentialRate(const KernelParameters& parameters) { return parameters[0]; }

// |exp(-gamma v)| = exp(-gamma Re v).
double ExponentialLogBound(const KernelParameters& parameters, double left, double) {
  return parameters[0] * left;
}

constexpr Analyticity kExponentialAnalyticity = {
    .has_one_parameter = true, .rate = ExponentialRate, .log_bound = ExponentialLogBound};

Index PowerDegree(const KernelParameters& parameters) { return static_cast<Index>(parameters[0]); }

}  // namespace

constinit const Shape kIdentityShape = {
    .value = Identity,
    .loops_f32 = IdentityLoops<float>,
    .loops_f64 = IdentityLoops<double>,
};

constinit const Shape kExponentialShape = {
    .shift = 1,
    .value = ExponentialLessOne,
    .loops_f32 = MakeExponentialLoops<float>,
    .loops_f64 = MakeExponentialLoops<double>,
    .analyticity = &kExponentialAnalyticity,
    .is_exponential = true,
};

constinit const Shape kPowerShape = {
    .value = Power,
    .loops_f32 = MakePowerLoops<float>,
    .loops_f64 = MakePowerLoops<double>,
    .degree = PowerDegree,
};

template <>
std::unique_ptr<MemberLoops<float>> MakeLoops(const Shape& shape, std::span<const KernelParameters> members) {
  return shape.loops_f32(members);
}

template <>
std::unique_ptr<MemberLoops<double>> MakeLoops(const Shape& shape,
                                               std::span<const KernelParameters> members) {
  return shape.loops_f64(members);
}

}  // namespace kweave
