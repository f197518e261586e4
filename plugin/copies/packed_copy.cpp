#include "copies/packed_copy.hpp"

namespace compound::plugin {

std::size_t PackedCopy::bytes() const {
  return (packed ? packed->bytes().total() : 0) + (other_blocks ? other_blocks->bytes() : 0);
}

std::size_t PackedCopy::OtherBlocks::bytes() const {
  const auto of = [](const auto& v) { return v.size() * sizeof(v[0]); };
  std::size_t all = of(values) + of(x) + of(y) + of(shape.pattern.start) + of(shape.pattern.column);
  for (const Grouping* g : {&shape.rows, &shape.cols}) all += of(g->start) + of(g->group_of);
  for (const auto* edge : {&shape.beside, &shape.below})
    if (*edge) all += of((*edge)->from) + of((*edge)->pattern.start) + of((*edge)->pattern.column);
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
  const OtherBlocks& other = *other_blocks;
  const Grouping& of_x = op == Op::none ? other.shape.cols : other.shape.rows;
  const Grouping& of_y = op == Op::none ? other.shape.rows : other.shape.cols;
  other.x.resize(std::size_t{1} * of_x.groups() * of_x.block);
  other.y.resize(std::size_t{1} * of_y.groups() * of_y.block);
  to_groups(of_x, x, other.x.data());
  if (update == Update::add) to_groups(of_y, z, other.y.data());
  packed->multiply(op, update, other.x.data(), update == Update::add ? other.y.data() : nullptr, other.y.data());
  from_groups(of_y, other.y.data(), y);
}

}  // namespace compound::plugin
