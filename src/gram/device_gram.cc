#include "gram/device_gram.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>
#include <optional>
#include <utility>

#include "base/dot.h"
#include "gram/base_store.h"
#include "gram/block_source.h"
#include "gram/family_basis.h"
#include "gram/family_table.h"
#include "gram/group.h"
#include "gram/panel.h"
#include "kernel/linear.h"
#include "kernel/rbf.h"

namespace kweave {
namespace {

using Form = BaseFunctions::Form;

// Pairs of one call of the device: some tenths of a second, after which a run can be stopped.
constexpr double kPairsPerCall = 1e10;
// Float32 sums of squares may exceed an exact bound by their rounding.
constexpr double kRoundedSums = 1 + 1e-5;

// Kernels of one form on the same base quantity.
struct DeviceFamily {
  KernelTerm term;  // of its first kernel
  std::vector<FamilyMember> members;
  std::vector<const Shape*> shapes;  // of the members
  std::optional<FamilyTable> table;
  std::vector<double> squared_norms;  // of inner products: k(x,x) follows from them
  std::size_t first_function = 0;
  Index functions = 0;

  bool is_distance() const { return term.kind->base->is_translation_invariant; }
  double shift() const { return shapes[0]->shift; }
};

std::optional<Form> FormOf(const KernelKind& kind) {
  const bool is_known = kind.base == &kSquaredDistanceQuantity || kind.base == &kInnerProductQuantity;
  if (!is_known) return {};
  if (kind.shape->is_exponential) return Form::kExponential;
  if (kind.shape == &kPowerShape || kind.shape == &kIdentityShape) return Form::kPower;
  if (kind.shape->analyticity != nullptr) return Form::kTable;
  return {};
}

// A sentence where some kernel is not for the device; else empty.
std::string NoteOnKernels(const KernelSet& kernels, const Normalization& normalization) {
  for (Index m = 0; m < kernels.size(); ++m) {
    if (normalization.scale[m] == 0) continue;
    if (kernels.IsComposite(m) || !FormOf(*kernels.Term(m).kind))
      return fmt::format("kernel {} is evaluated on the CPU, and so are all others", kernels.Name(m));
    if (normalization.chains.contains(m))
      return fmt::format("the normalisation of kernel {} is for the CPU, and so are all kernels",
                         kernels.Name(m));
  }
  return {};
}

BaseFunctions::Member MemberOf(const Shape& shape, const KernelParameters& parameters) {
  if (shape.is_exponential) return {.rate = shape.analyticity->rate(parameters)};
  if (&shape == &kIdentityShape) return {};
  return {.rate = parameters[1], .offset = parameters[2], .degree = static_cast<int>(parameters[0])};
}

class DeviceGram final : public Gram {
 public:
  DeviceGram(const KernelSet& kernels, std::span<const View> views, const Normalization& normalization,
             const GramOptions& options, ThreadPool& pool)
      : Gram({.left_count = RowCount(views[0].features),
              .right_count = RowCount(views[0].features),
              .kernels = kernels.size()}),
        pool_(pool) {
    Sort(kernels, normalization);
    std::vector<DeviceBase> bases;
    for (DeviceFamily& family : families_) {
      bases.push_back(MakeBase(family, kernels, views, options));
      family.first_function = functions_;
      family.functions = bases.back().functions.count();
      functions_ += static_cast<std::size_t>(family.functions);
    }
    Device& device = *options.device->device;
    const std::size_t needed = device.NeededBytes(bases, left_count(), options.use_float);
    if (const std::size_t free_bytes = device.FreeBytes(); needed > free_bytes) {
      throw DeviceError(
          fmt::format("the samples take about {:.3g} GB on the device, but {:.3g} GB are free there",
                      static_cast<double>(needed) / 1e9, static_cast<double>(free_bytes) / 1e9));
    }
    matrix_ = device.MakeMatrix(bases, left_count(), options.use_float, pool);
  }

  std::vector<VectorAnswer> AnswerAll(std::span<const VectorRequest> requests) override {
    std::vector<VectorAnswer> answers(requests.size());
    for (std::size_t v = 0; v < requests.size(); ++v) {
      auto expansion = std::make_unique<DeviceExpansion>(*this);
      expansion->MoveTo(requests[v].a);
      if (requests[v].wants_quadratics) {
        answers[v].quadratics.resize(static_cast<std::size_t>(kernels()));
        expansion->Quadratics(answers[v].quadratics);
      }
      if (requests[v].has_outputs()) {
        answers[v].outputs.resize(static_cast<std::size_t>(right_count()));
        expansion->Outputs(requests[v].theta, answers[v].outputs);
      }
      if (requests[v].keeps_expansion) answers[v].expansion = std::move(expansion);
    }
    return answers;
  }

 protected:
  std::shared_ptr<const LearnedMatrix> MakeLearned(std::span<const double> theta) override {
    return std::make_shared<Learned>(*this, theta);
  }

 private:
  class Learned final : public LearnedMatrix, public BlockSource {
   public:
    Learned(DeviceGram& gram, std::span<const double> theta)
        : LearnedMatrix(theta, gram.ShiftAt(theta)), gram_(gram), coefficients_(gram.CoefficientsAt(theta)) {}

    void Rows(std::span<const Index> rows, float* out, Index stride) const override {
      gram_.CountRows(static_cast<std::int64_t>(rows.size()));
      gram_.matrix_->Rows(coefficients_, rows, out, stride);
    }
    void Rows(std::span<const Index> rows, double* out, Index stride) const override {
      gram_.CountRows(static_cast<std::int64_t>(rows.size()));
      gram_.matrix_->Rows(coefficients_, rows, out, stride);
    }
    void Block(std::span<const Index> samples, std::span<double> out) const override {
      gram_.matrix_->Block(coefficients_, samples, out);
    }
    void Diagonal(std::span<double> out) const override {
      std::ranges::fill(out, 0.0);
      for (const DeviceFamily& family : gram_.families_) gram_.AddDiagonal(family, theta(), out);
    }
    std::unique_ptr<DualSolver> MakeSolver(const DualProblem& problem, const SolverOptions&) const override {
      std::vector<double> diagonal(static_cast<std::size_t>(gram_.left_count()));
      Diagonal(diagonal);
      return gram_.matrix_->MakeSolver(coefficients_, diagonal, problem);
    }

   private:
    DeviceGram& gram_;
    const std::vector<double> coefficients_;  // by function
  };

  // The sums of every function for every sample.
  class DeviceExpansion final : public MovableExpansion {
   public:
    explicit DeviceExpansion(DeviceGram& gram)
        : gram_(gram),
          a_(static_cast<std::size_t>(gram.left_count()), 0.0),
          moments_(gram.functions_ * a_.size(), 0.0) {}

    void MoveTo(std::span<const double> a) override {
      const auto count = [&](auto counts) {
        std::ptrdiff_t sum = 0;
        for (std::size_t i = 0; i < a.size(); ++i) sum += counts(i) ? 1 : 0;
        return sum;
      };
      const auto changed = count([&](std::size_t i) { return a[i] != a_[i]; });
      if (changed > count([&](std::size_t i) { return a[i] != 0; })) {
        std::ranges::fill(a_, 0.0);
        std::ranges::fill(moments_, 0.0);
      }
      SupportVector changes;
      for (std::size_t i = 0; i < a.size(); ++i) {
        if (a[i] == a_[i]) continue;
        changes.rows.push_back(static_cast<Index>(i));
        changes.factors.push_back(a[i] - a_[i]);
      }
      gram_.AddMoments(changes, moments_);
      a_.assign(a.begin(), a.end());
      sum_ = std::accumulate(a.begin(), a.end(), 0.0);
    }
    void Quadratics(std::span<double> q) const override { Products(a_, q); }
    void Products(std::span<const double> b, std::span<double> products) const override {
      std::vector<double> totals(gram_.functions_);
      gram_.pool_.ParallelFor(static_cast<Index>(totals.size()), 1, [&](Index begin, Index end, int) {
        for (Index k = begin; k < end; ++k) totals[static_cast<std::size_t>(k)] = Dot(b, Moments(k));
      });
      const double sums = sum_ * std::accumulate(b.begin(), b.end(), 0.0);
      std::ranges::fill(products, 0.0);
      for (const DeviceFamily& family : gram_.families_) {
        for (std::size_t m = 0; m < family.members.size(); ++m) {
          products[static_cast<std::size_t>(family.members[m].kernel)] =
              family.members[m].scale * (Apply(family, m, totals) + family.shift() * sums);
        }
      }
    }
    void Outputs(std::span<const double> theta, std::span<double> out) const override {
      const std::vector<double> coefficients = gram_.CoefficientsAt(theta);
      const double shift = gram_.ShiftAt(theta) * sum_;
      gram_.pool_.ParallelFor(static_cast<Index>(out.size()), kColumnBlock, [&](Index begin, Index end, int) {
        const auto part = out.subspan(static_cast<std::size_t>(begin), static_cast<std::size_t>(end - begin));
        std::ranges::fill(part, shift);
        for (std::size_t k = 0; k < coefficients.size(); ++k) {
          if (coefficients[k] == 0) continue;
          const double* moments = Moments(static_cast<Index>(k)).data() + begin;
          for (std::size_t j = 0; j < part.size(); ++j) part[j] += coefficients[k] * moments[j];
        }
      });
    }

   private:
    std::span<const double> Moments(Index k) const {
      return std::span(moments_).subspan(static_cast<std::size_t>(k) * a_.size(), a_.size());
    }
    static double Apply(const DeviceFamily& family, std::size_t m, std::span<const double> totals) {
      const std::span<const double> own = totals.subspan(family.first_function);
      if (!family.table) return own[m];
      const auto terms = static_cast<std::size_t>(family.table->terms);
      return Dot(std::span(family.table->coefficients).subspan(m * terms, terms), own.first(terms));
    }

    DeviceGram& gram_;
    std::vector<double> a_, moments_;
    double sum_ = 0;
  };

  // Kernels of the same base and form share its samples; tables belong to one kind.
  void Sort(const KernelSet& kernels, const Normalization& normalization) {
    std::map<std::tuple<BaseKey, Form, const KernelKind*>, DeviceFamily> families;
    for (Index m = 0; m < kernels.size(); ++m) {
      if (normalization.scale[m] == 0) continue;
      const KernelTerm term = kernels.Term(m);
      const Form form = *FormOf(*term.kind);
      DeviceFamily& family = families[{KeyOf(term), form, form == Form::kPower ? nullptr : term.kind}];
      if (family.members.empty()) family.term = term;
      family.members.push_back({m, term.parameters, normalization.scale[m]});
      family.shapes.push_back(term.kind->shape);
    }
    for (auto& [key, family] : families) families_.push_back(std::move(family));
  }

  DeviceBase MakeBase(DeviceFamily& family, const KernelSet& kernels, std::span<const View> views,
                      const GramOptions& options) {
    const Features& features = views[static_cast<std::size_t>(family.term.view)].features;
    const FeatureSubset& subset = kernels.subsets[static_cast<std::size_t>(family.term.subset)];
    DeviceBase base;
    base.is_distance = family.is_distance();
    base.features = SubsetSize(features, subset);
    std::vector<double> center(static_cast<std::size_t>(base.features), 0.0);
    if (base.is_distance) center = ColumnCenters(features, subset);
    base.copy_sample = [&features, &subset, center](Index i, std::span<double> out) {
      if (subset.empty()) {
        CopyRow(features, i, out);
      } else {
        std::vector<double> all(static_cast<std::size_t>(ColumnCount(features)));
        CopyRow(features, i, all);
        for (std::size_t f = 0; f < out.size(); ++f) out[f] = all[static_cast<std::size_t>(subset[f])];
      }
      for (std::size_t f = 0; f < out.size(); ++f) out[f] -= center[f];
    };
    base.functions = MakeFunctions(family, base, options);
    return base;
  }

  BaseFunctions MakeFunctions(DeviceFamily& family, const DeviceBase& base, const GramOptions& options) {
    BaseFunctions functions;
    functions.form = *FormOf(*family.term.kind);
    std::vector<double> norms = SquaredNorms(base);
    const auto count = family.members.size();
    const bool is_table =
        functions.form == Form::kTable ||
        (functions.form == Form::kExponential && options.evaluation != FamilyEvaluation::kDirect &&
         (options.evaluation == FamilyEvaluation::kTable || count > kDirectMembers));
    if (is_table) {
      FitTable(family, 4 * *std::ranges::max_element(norms) * kRoundedSums, options.use_float);
      if (family.table) return FunctionsOf(*family.table);
      if (functions.form == Form::kTable)
        throw DeviceError(
            fmt::format("kernels {} need too long a table for the device", family.term.kind->name));
    }
    if (!family.is_distance()) family.squared_norms = std::move(norms);
    for (std::size_t m = 0; m < count; ++m) {
      functions.members.push_back(MemberOf(*family.shapes[m], family.members[m].parameters));
    }
    return functions;
  }

  void FitTable(DeviceFamily& family, double upper_bound, bool use_float) {
    std::vector<KernelParameters> parameters;
    for (const FamilyMember& member : family.members) parameters.push_back(member.parameters);
    const double error = use_float ? TableRelativeError<float>() : TableRelativeError<double>();
    family.table = FitFamilyTable(*family.shapes[0], parameters, upper_bound, error, kMostTableTerms);
    for (std::size_t m = 0; family.table && m < parameters.size(); ++m) {
      shape_.table_error = std::max(shape_.table_error, family.members[m].scale * family.table->error[m]);
    }
  }

  static BaseFunctions FunctionsOf(const FamilyTable& table) {
    BaseFunctions functions;
    functions.form = Form::kTable;
    functions.terms = table.terms;
    functions.stretch = table.stretch;
    functions.slope = table.slope;
    functions.offset = table.offset;
    functions.is_of_root = table.is_of_root;
    return functions;
  }

  std::vector<double> SquaredNorms(const DeviceBase& base) {
    std::vector<double> norms(static_cast<std::size_t>(left_count()));
    pool_.ParallelFor(left_count(), kColumnBlock, [&](Index begin, Index end, int) {
      std::vector<double> x(static_cast<std::size_t>(base.features));
      for (Index i = begin; i < end; ++i) {
        base.copy_sample(i, x);
        norms[static_cast<std::size_t>(i)] = Dot(x, x);
      }
    });
    return norms;
  }

  double ShiftAt(std::span<const double> theta) const {
    double shift = 0;
    for (const DeviceFamily& family : families_) {
      for (const FamilyMember& member : family.members) {
        shift += theta[static_cast<std::size_t>(member.kernel)] * member.scale * family.shift();
      }
    }
    return shift;
  }

  std::vector<double> CoefficientsAt(std::span<const double> theta) const {
    std::vector<double> coefficients(functions_, 0.0);
    for (const DeviceFamily& family : families_) {
      for (std::size_t m = 0; m < family.members.size(); ++m) {
        const double weight =
            theta[static_cast<std::size_t>(family.members[m].kernel)] * family.members[m].scale;
        if (weight == 0) continue;
        if (!family.table) coefficients[family.first_function + m] += weight;
        for (Index k = 0; family.table && k < family.table->terms; ++k) {
          coefficients[family.first_function + static_cast<std::size_t>(k)] +=
              weight * family.table->coefficients[m * static_cast<std::size_t>(family.table->terms) +
                                                  static_cast<std::size_t>(k)];
        }
      }
    }
    return coefficients;
  }

  // Less what rows leave out.
  static void AddDiagonal(const DeviceFamily& family, std::span<const double> theta, std::span<double> out) {
    const auto value_at = [&](double base) {
      double sum = 0;
      for (std::size_t m = 0; m < family.members.size(); ++m) {
        const double weight =
            theta[static_cast<std::size_t>(family.members[m].kernel)] * family.members[m].scale;
        if (weight != 0) sum += weight * family.shapes[m]->value(family.members[m].parameters, base);
      }
      return sum;
    };
    const double at_zero = family.is_distance() ? value_at(0) : 0;
    for (std::size_t i = 0; i < out.size(); ++i) {
      out[i] += family.is_distance() ? at_zero : value_at(family.squared_norms[i]);
    }
  }

  // In calls that are short enough to stop between them.
  void AddMoments(const SupportVector& entries, std::span<double> moments) {
    const auto most =
        static_cast<std::size_t>(std::max(kPairsPerCall / static_cast<double>(left_count()), 1.0));
    for (std::size_t first = 0; first < entries.rows.size(); first += most) {
      const std::size_t count = std::min(most, entries.rows.size() - first);
      matrix_->AddMoments(std::span(entries.rows).subspan(first, count),
                          std::span(entries.factors).subspan(first, count), moments);
      pool_.ParallelFor(1, 1, [](Index, Index, int) {});  // polls
    }
    CountRows(static_cast<std::int64_t>(entries.rows.size()));
  }

  ThreadPool& pool_;
  std::vector<DeviceFamily> families_;
  std::size_t functions_ = 0;
  std::unique_ptr<DeviceMatrix> matrix_;
};

}  // namespace

std::unique_ptr<Gram> MakeDeviceGram(const KernelSet& kernels, std::span<const View> views,
                                     const Normalization& normalization, const GramOptions& options,
                                     ThreadPool& pool) {
  const DeviceUse& use = *options.device;
  if (RowCount(views[0].features) < use.least_samples) return nullptr;
  if (const std::string note = NoteOnKernels(kernels, normalization); !note.empty()) {
    use.tells(note);
    return nullptr;
  }
  try {
    return std::make_unique<DeviceGram>(kernels, views, normalization, options, pool);
  } catch (const DeviceError& error) {
    use.tells(fmt::format("kernels are evaluated on the CPU: {}", error.what()));
    return nullptr;
  }
}

}  // namespace kweave
