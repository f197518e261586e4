#include "copies/packed_copy.hpp"

namespace compound::plugin {

std::size_t PackedCopy::bytes() const {
  return (packed ? packed->bytes().total() : 0) + (other_blocks ? other_blocks->bytes() : 0);
}

std::size_t PackedCopy::OtherBlocks::bytes() const {
  const auto of = [](const auto& v) { return v.size() * sizeof(v[0]); };
  std::size_t all = of(values) + of(x) + of(y) + of(shape.pattern.start) + of(shape.pattern.column);
  for (const Grouping* g : {&shape.rows, &shape.cols}) all += of(g->start) + of(g->group_of);
  return all;
}

void PackedCopy::multiply_in_groups(Op op, Update update, const PetscScalar* x, const PetscScalar* z,
                                    PetscScalar* y) const {
  const OtherBlocks& other = *other_blocks;
  const Grouping& of_x = op == Op::none ? other.shape.cols : other.shape.rows;
  const Grouping& of_y = op == Op::none ? other.shape.rows : other.shape.cols;
  other.x.resize(std::size_t{1} * of_x.groups() * of_x.block);
  other.y.resize(std::size_t{1} * of_y.groups() * of_y.block);
  to_groups(of_x, reinterpret_cast<const Scalar*>(x), other.x.data());
  if (update == Update::add) to_groups(of_y, reinterpret_cast<const Scalar*>(z), other.y.data());
  packed->multiply(op, update, other.x.data(), update == Update::add ? other.y.data() : nullptr, other.y.data());
  from_groups(of_y, other.y.data(), reinterpret_cast<Scalar*>(y));
}

}  // namespace compound::plugin
