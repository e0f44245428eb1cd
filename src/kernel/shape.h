// Shapes of kernels: how a value follows from the base quantity.
//
// A shape is a record of functions, as a base quantity is. What is generic (gram/) asks it for what it needs
// and knows no particular one, so that a new shape is a record in the file of its kernel
// (docs/dev/adding-a-kernel.md).
#ifndef KWEAVE_KERNEL_SHAPE_H_
#define KWEAVE_KERNEL_SHAPE_H_

#include <array>
#include <cstddef>
#include <memory>
#include <span>

#include "compute/cpu/family_loops.h"
#include "kweave/index.h"

namespace kweave {

/// The most parameters of a kernel: those of a polynomial.
inline constexpr std::size_t kMostParameters = 3;

/// Values of the parameters in the order in which the kind of kernel lists them; 0 where it has fewer.
using KernelParameters = std::array<double, kMostParameters>;

/// Members of one shape as functions of a row of base values. T: float or double.
template <class T>
class MemberLoops {
 public:
  virtual ~MemberLoops() = default;

  /// out[j] += sum_m weights[m] (k_m(base[j]) - shift) for j < count.
  virtual void Add(const T* base, Index count, std::span<const T> weights, T* out) const = 0;
  /// moments[m * stride + j] += sum_r factors[r] (k_m(rows[r][j]) - shift) for j < count.
  virtual void AddMoments(const WeightedRows<T>& base, Index count, T* moments, Index stride) const = 0;
  /// out[j] = k_m(base[j]) - shift for j < count, of one member m.
  virtual void Values(std::size_t m, const T* base, Index count, T* out) const = 0;
};

/// What a table of a family of analytic functions needs to know (gram/family_table.h). The variable v is the
/// base quantity b, or its root.
struct Analyticity {
  bool is_of_root = false;         ///< k is analytic in v = sqrt(b), not in v = b
  bool has_one_parameter = false;  ///< members of equal rate are equal, and vary the more the larger it is
  /// How fast the member varies: 1 over the length of v in which it changes.
  double (*rate)(const KernelParameters& parameters) = nullptr;
  /// The logarithm of a bound on |k(v)| for complex v with Re v >= -left and |v| <= radius; infinity where
  /// there is none.
  double (*log_bound)(const KernelParameters& parameters, double left, double radius) = nullptr;
};

struct Shape {
  /// Left out of every value below: 1 for kernels that are 1 at b = 0, so that values close to 1 keep their
  /// digits.
  double shift = 0;
  /// k(b) - shift in plain double arithmetic, accurate also where it is small.
  double (*value)(const KernelParameters& parameters, double base) = nullptr;
  /// The same for several members and many values.
  std::unique_ptr<MemberLoops<float>> (*loops_f32)(std::span<const KernelParameters> members) = nullptr;
  std::unique_ptr<MemberLoops<double>> (*loops_f64)(std::span<const KernelParameters> members) = nullptr;

  /// For b >= 0. Null: a family has no table by analyticity.
  const Analyticity* analyticity = nullptr;
  /// k is a polynomial in b of this degree, which a table holds without error. Null: it is not, or no table
  /// pays.
  Index (*degree)(const KernelParameters& parameters) = nullptr;
  /// k = exp(-rate b), rate that of `analyticity`: very many members have loops of their own
  /// (gram/direct_measure.h).
  bool is_exponential = false;
};

/// b.
extern const Shape kIdentityShape;
/// exp(-gamma b); the only parameter is gamma.
extern const Shape kExponentialShape;
/// (gamma b + coef0)^degree; the parameters are degree, gamma and coef0, in this order.
extern const Shape kPowerShape;

/// The kernel value at base quantity `base`, in plain double arithmetic.
inline double ShapeValue(const Shape& shape, const KernelParameters& parameters, double base) {
  return shape.shift + shape.value(parameters, base);
}

template <class T>
std::unique_ptr<MemberLoops<T>> MakeLoops(const Shape& shape, std::span<const KernelParameters> members);

}  // namespace kweave

#endif  // KWEAVE_KERNEL_SHAPE_H_
