#include "spmv/other_blocks.hpp"

#include "planner/default_plan.hpp"

namespace compound::plugin {

/// f(edge, its packed matrix) for the edges that there are.
template <class F>
void OtherBlocks::for_each_edge(const F& f) {
  if (shape_.beside) f(*shape_.beside, beside_);
  if (shape_.below) f(*shape_.below, below_);
}

std::size_t OtherBlocks::bytes() const {
  const auto of = [](const auto& v) { return v.size() * sizeof(v[0]); };
  std::size_t all = of(values_) + of(shape_.pattern.start) + of(shape_.pattern.column);
  for (const Grouping* g : {&shape_.rows, &shape_.cols}) all += of(g->start) + of(g->group_of);
  for (const auto* edge : {&shape_.beside, &shape_.below})
    if (*edge) all += of((*edge)->from) + of((*edge)->pattern.start) + of((*edge)->pattern.column);
  for (const auto* vector : {&rows_, &cols_})
    if (*vector) all += (*vector)->bytes();
  for (const auto* edge : {&beside_, &below_})
    if (*edge) all += (*edge)->packed.bytes().total() + of((*edge)->values);
  return all;
}

void OtherBlocks::pack(ScalarType scalar, Backend& backend) {
  const Problem problem{{1, 1}, scalar};
  for_each_edge([&](const Edge& edge, std::optional<PackedEdge>& packed) {
    const PatternView pattern = edge.pattern.view();
    const Plan plan = plan_for_layout("csr", statistics(pattern), problem, backend.name());
    packed.emplace(PackedEdge{{pattern, problem, plan, backend, PatternLifetime::outlives}});
  });
  if (is_full()) return;
  rows_.emplace(shape_.rows, backend);
  cols_.emplace(shape_.cols, backend);
}

void OtherBlocks::take_values(const Scalar* given) {
  for_each_edge([&](const Edge& edge, std::optional<PackedEdge>& packed) {
    std::vector<Scalar> values = values_of(edge, given);
    packed->packed.update_values(values.data());
    if (packed->packed.lies_on_blocks()) packed->values = std::move(values);
  });
}

void OtherBlocks::prepare_transposed(TransposedValues held) {
  for_each_edge([&](const Edge& edge, std::optional<PackedEdge>& packed) {
    packed->packed.prepare_transposed(edge.pattern.view(), plan_of_transpose, held);
  });
}

void OtherBlocks::compile() {
  for_each_edge([](const Edge&, std::optional<PackedEdge>& packed) { packed->packed.compile(); });
}

void OtherBlocks::multiply(const PackedMatrix& blocks, Op op, Update update, const Scalar* x, const Scalar* z,
                           Scalar* y) const {
  is_full() ? multiply_with_edges(blocks, op, update, x, z, y) : multiply_in_groups(blocks, op, update, x, z, y);
}

/// On vectors as they are: blocks first, then what is left over at the edges.
void OtherBlocks::multiply_with_edges(const PackedMatrix& blocks, Op op, Update update, const Scalar* x,
                                      const Scalar* z, Scalar* y) const {
  const idx rows = shape_.rows.scalars(), cols = shape_.cols.scalars();
  const auto from = [](const Scalar* v, idx first) { return v ? v + first : nullptr; };
  blocks.multiply(op, update, x, z, y);
  if (op == Op::none) {
    if (beside_) beside_->packed.multiply(op, Update::add, x + cols, y, y);
    if (below_) below_->packed.multiply(op, update, x, from(z, rows), y + rows);
  } else {
    if (beside_) beside_->packed.multiply(op, update, x, from(z, cols), y + cols);
    if (below_) below_->packed.multiply(op, Update::add, x + rows, y, y);
  }
}

/// With vectors brought to groups and back.
void OtherBlocks::multiply_in_groups(const PackedMatrix& blocks, Op op, Update update, const Scalar* x, const Scalar* z,
                                     Scalar* y) const {
  const GroupedVector<Scalar>& of_x = op == Op::none ? *cols_ : *rows_;
  const GroupedVector<Scalar>& of_y = op == Op::none ? *rows_ : *cols_;
  const Scalar* const in_groups = of_x.take(x);
  blocks.multiply(op, update, in_groups, update == Update::add ? of_y.take(z) : nullptr, of_y.room(y));
  of_y.give(y);
}

}  // namespace compound::plugin
