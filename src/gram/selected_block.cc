#include "gram/selected_block.h"

#include <algorithm>

#include "gram/group.h"

namespace kweave {
namespace {

template <class T>
class SelectedBlock : public BaseBlock<T> {
 public:
  SelectedBlock(const BaseRows<T>& source, std::vector<Index> samples)
      : source_(source), samples_(std::move(samples)) {
    this->traits_.upper_bound = source.block().traits().upper_bound;
    this->traits_.is_cheap = samples_.empty();
    this->traits_.is_view = true;
    this->traits_.rounding = source.block().traits().rounding;
    this->traits_.largest_stored = source.block().traits().largest_stored;
    this->traits_.is_mapped = source.is_mapped();
  }

  const T* Stored(Index row) const override { return samples_.empty() ? source_.Kept(row) : nullptr; }

  void GatherLeft(std::span<const Index>, AlignedVector<T>&) const override {}

  void Compute(std::span<const Index> rows, const AlignedVector<T>&, Index begin, Index end, T* out,
               Index stride) const override {
    thread_local std::vector<T> whole;
    for (std::size_t r = 0; r < rows.size(); ++r) {
      const T* row = source_.Kept(At(rows[r]));
      if (row == nullptr) {
        ComputeWhole(At(rows[r]), whole);
        row = whole.data();
      }
      T* const target = out + static_cast<Index>(r) * stride;
      for (Index j = begin; j < end; ++j) target[j - begin] = row[At(j)];
    }
  }

  double LeftDiagonal(Index i) const override { return source_.block().LeftDiagonal(At(i)); }
  double RightDiagonal(Index j) const override { return source_.block().RightDiagonal(At(j)); }

 private:
  Index At(Index i) const { return samples_.empty() ? i : samples_[static_cast<std::size_t>(i)]; }

  // All columns of one row of the source, which blocks of columns compose.
  void ComputeWhole(Index row, std::vector<T>& whole) const {
    const Index columns = source_.right_count();
    whole.resize(static_cast<std::size_t>(columns));
    AlignedVector<T> left;
    const Index rows[] = {row};
    source_.block().GatherLeft(rows, left);
    for (Index begin = 0; begin < columns; begin += kColumnBlock) {
      const Index end = std::min(begin + kColumnBlock, columns);
      source_.block().Compute(rows, left, begin, end, whole.data() + begin, end - begin);
    }
  }

  const BaseRows<T>& source_;
  const std::vector<Index> samples_;
};

}  // namespace

template <class T>
std::unique_ptr<BaseBlock<T>> MakeSelectedBlock(const BaseRows<T>& source, std::vector<Index> samples) {
  return std::make_unique<SelectedBlock<T>>(source, std::move(samples));
}

template std::unique_ptr<BaseBlock<float>> MakeSelectedBlock(const BaseRows<float>&, std::vector<Index>);
template std::unique_ptr<BaseBlock<double>> MakeSelectedBlock(const BaseRows<double>&, std::vector<Index>);

}  // namespace kweave
