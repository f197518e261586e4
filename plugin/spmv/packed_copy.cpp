#include "spmv/packed_copy.hpp"

namespace compound::plugin {

std::size_t PackedCopy::bytes() const {
  return (packed ? packed->bytes().total() : 0) + (other_blocks ? other_blocks->bytes() : 0);
}

std::size_t PackedCopy::OtherBlocks::bytes() const {
  const auto of = [](const auto& v) { return v.size() * sizeof(v[0]); };
  std::size_t all = of(values) + of(shape.pattern.start) + of(shape.pattern.column);
  for (const Grouping* g : {&shape.rows, &shape.cols}) all += of(g->start) + of(g->group_of);
  for (const auto* edge : {&shape.beside, &shape.below})
    if (*edge) all += of((*edge)->from) + of((*edge)->pattern.start) + of((*edge)->pattern.column);
  for (const auto* vector : {&rows, &cols})
    if (*vector) all += (*vector)->bytes();
  for (const auto* edge : {&beside, &below})
    if (*edge) all += (*edge)->packed.bytes().total() + of((*edge)->values);
  return all;
}

void PackedCopy::multiply_with_edges(Op op, Update update, const Scalar* x, const Scalar* z, Scalar* y) const {
  const OtherBlocks& other = *other_blocks;
  const idx rows = other.shape.rows.scalars(), cols = other.shape.cols.scalars();
  const auto from = [](const Scalar* v, idx first) { return v ? v + first : nullptr; };
  packed->multiply(op, update, x, z, y);
  if (op == Op::none) {
    if (other.beside) other.beside->packed.multiply(op, Update::add, x + cols, y, y);
    if (other.below) other.below->packed.multiply(op, update, x, from(z, rows), y + rows);
  } else {
    if (other.beside) other.beside->packed.multiply(op, update, x, from(z, cols), y + cols);
    if (other.below) other.below->packed.multiply(op, Update::add, x + rows, y, y);
  }
}

void PackedCopy::multiply_in_groups(Op op, Update update, const Scalar* x, const Scalar* z, Scalar* y) const {
  const GroupedVector<Scalar>& of_x = op == Op::none ? *other_blocks->cols : *other_blocks->rows;
  const GroupedVector<Scalar>& of_y = op == Op::none ? *other_blocks->rows : *other_blocks->cols;
  const Scalar* const in_groups = of_x.take(x);
  packed->multiply(op, update, in_groups, update == Update::add ? of_y.take(z) : nullptr, of_y.room(y));
  of_y.give(y);
}

}  // namespace compound::plugin
