// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "algorithms/cnn/onednn_layers.hpp"

namespace league::cnn {
namespace {

using dnnl::memory, dnnl::primitive_attr, dnnl::prop_kind;
using Tag = memory::format_tag;

constexpr std::int64_t line = 16;  ///< floats per cache line: alignment of tensors

memory::desc any(const memory::dims& dims) { return {dims, memory::data_type::f32, Tag::any}; }

}  // namespace

Layers::Layers(const dnnl::engine& engine, int images) : engine_(engine), stream_(engine), images_(images) {
  make_convolutions();
  make_dense();
}

void Layers::bind(const State& state, float* arena) {
  for (auto& [tensor, at] : arena_) tensor.set_data_handle(arena + at);
  for (auto& [tensor, place] : state_) tensor.set_data_handle(place(state));
}

void Layers::run(const Calls& calls) const {
  for (const auto& [primitive, arguments] : calls) primitive.execute(stream_, arguments);
  stream_.wait();
}

memory Layers::in_arena(const memory::desc& desc) {
  memory tensor(desc, engine_, DNNL_MEMORY_NONE);
  arena_.emplace_back(tensor, size_);
  const auto bytes = static_cast<std::int64_t>(desc.get_size());
  size_ += (bytes / 4 + line) / line * line;
  return tensor;
}
memory Layers::in_state(const Dims& dims, Tag tag, Place place) {
  memory tensor({dims, memory::data_type::f32, tag}, engine_, DNNL_MEMORY_NONE);
  state_.emplace_back(tensor, place);
  return tensor;
}
memory Layers::as(const memory::desc& wanted, const memory& from, Calls& calls) {
  if (wanted == from.get_desc()) return from;
  memory to = in_arena(wanted);
  finish(from, to, calls);
  return to;
}
memory Layers::before(const memory::desc& made, const memory& to) {
  return made == to.get_desc() ? to : in_arena(made);
}
void Layers::finish(const memory& made, const memory& to, Calls& calls) const {
  if (made.get_desc() != to.get_desc())
    calls.push_back({dnnl::reorder(made, to), {{DNNL_ARG_FROM, made}, {DNNL_ARG_TO, to}}});
}

void Layers::make_convolutions() {
  const Dims one{1, 1}, none{0, 0}, two{2, 2};
  const Dims x_dims{images_, 1, side, side}, a1_dims{images_, channels1, side1, side1};
  const Dims z2_dims{images_, channels2, side2, side2}, p_dims{images_, channels2, pooled_side, pooled_side};
  const Dims w1_dims{channels1, 1, 3, 3}, w2_dims{channels2, channels1, 3, 3};

  x_ = in_arena({x_dims, memory::data_type::f32, Tag::nchw});
  p_ = in_state(p_dims, Tag::nchw, [](const State& s) { return s.p; });
  d_p_ = in_state(p_dims, Tag::nchw, [](const State& s) { return s.d_p; });
  const memory w1 = in_state(w1_dims, Tag::oihw, [](const State& s) { return s.weights + conv1_weights; });
  const memory b1 = in_state({channels1}, Tag::x, [](const State& s) { return s.weights + conv1_biases; });
  const memory w2 = in_state(w2_dims, Tag::oihw, [](const State& s) { return s.weights + conv2_weights; });
  const memory b2 = in_state({channels2}, Tag::x, [](const State& s) { return s.weights + conv2_biases; });
  const memory g1 = in_state(w1_dims, Tag::oihw, [](const State& s) { return s.gradient + conv1_weights; });
  const memory gb1 = in_state({channels1}, Tag::x, [](const State& s) { return s.gradient + conv1_biases; });
  const memory g2 = in_state(w2_dims, Tag::oihw, [](const State& s) { return s.gradient + conv2_weights; });
  const memory gb2 = in_state({channels2}, Tag::x, [](const State& s) { return s.gradient + conv2_biases; });

  // Forward: the ReLU of the first convolution is fused (post-op); that of the second one follows the pool.
  constexpr auto convolution = dnnl::algorithm::convolution_direct;
  using Forward = dnnl::convolution_forward;
  primitive_attr relu;
  dnnl::post_ops then;
  then.append_eltwise(1, dnnl::algorithm::eltwise_relu, 0, 0);
  relu.set_post_ops(then);
  const Forward::primitive_desc first({prop_kind::forward_training, convolution, any(x_dims), any(w1_dims),
                                       b1.get_desc(), any(a1_dims), one, none, none},
                                      relu, engine_);
  const memory a1 = in_arena(first.dst_desc());
  convolve_.push_back({Forward(first),
                       {{DNNL_ARG_SRC, as(first.src_desc(), x_, convolve_)},
                        {DNNL_ARG_WEIGHTS, as(first.weights_desc(), w1, convolve_)},
                        {DNNL_ARG_BIAS, b1},
                        {DNNL_ARG_DST, a1}}});
  const Forward::primitive_desc second({prop_kind::forward_training, convolution, any(a1_dims), any(w2_dims),
                                        b2.get_desc(), any(z2_dims), one, none, none},
                                       engine_);
  const memory z2 = in_arena(second.dst_desc());
  convolve_.push_back({Forward(second),
                       {{DNNL_ARG_SRC, as(second.src_desc(), a1, convolve_)},
                        {DNNL_ARG_WEIGHTS, as(second.weights_desc(), w2, convolve_)},
                        {DNNL_ARG_BIAS, b2},
                        {DNNL_ARG_DST, z2}}});
  const dnnl::pooling_forward::primitive_desc pool(
      {prop_kind::forward_training, dnnl::algorithm::pooling_max, z2.get_desc(), any(p_dims), two, two, none, none},
      engine_);
  const memory largest = before(pool.dst_desc(), p_), at = in_arena(pool.workspace_desc());
  convolve_.push_back(
      {dnnl::pooling_forward(pool), {{DNNL_ARG_SRC, z2}, {DNNL_ARG_DST, largest}, {DNNL_ARG_WORKSPACE, at}}});
  finish(largest, p_, convolve_);
  places_ = as({p_dims, memory::data_type::u8, Tag::nchw}, at, convolve_);

  // Backward, from the input of the ReLU after the pool.
  const memory d_z2 = in_arena(z2.get_desc());
  const dnnl::pooling_backward::primitive_desc unpool(
      {dnnl::algorithm::pooling_max, d_z2.get_desc(), pool.dst_desc(), two, two, none, none}, engine_, pool);
  convolve_back_.push_back({dnnl::pooling_backward(unpool),
                            {{DNNL_ARG_DIFF_DST, as(pool.dst_desc(), d_p_, convolve_back_)},
                             {DNNL_ARG_WORKSPACE, at},
                             {DNNL_ARG_DIFF_SRC, d_z2}}});
  using BackwardWeights = dnnl::convolution_backward_weights;
  const auto weights_of = [&](const Forward::primitive_desc& forward, const memory& src, const memory& d_dst,
                              const memory& g, const memory& gb) {
    const BackwardWeights::primitive_desc desc({convolution, any(src.get_desc().dims()), any(g.get_desc().dims()),
                                                gb.get_desc(), any(d_dst.get_desc().dims()), one, none, none},
                                               engine_, forward);
    const memory made = before(desc.diff_weights_desc(), g);
    convolve_back_.push_back({BackwardWeights(desc),
                              {{DNNL_ARG_SRC, as(desc.src_desc(), src, convolve_back_)},
                               {DNNL_ARG_DIFF_DST, as(desc.diff_dst_desc(), d_dst, convolve_back_)},
                               {DNNL_ARG_DIFF_WEIGHTS, made},
                               {DNNL_ARG_DIFF_BIAS, gb}}});
    finish(made, g, convolve_back_);
  };
  weights_of(second, a1, d_z2, g2, gb2);
  using BackwardData = dnnl::convolution_backward_data;
  const BackwardData::primitive_desc back({convolution, any(a1_dims), any(w2_dims), any(z2_dims), one, none, none},
                                          engine_, second);
  const memory d_a1 = in_arena(back.diff_src_desc()), d_z1 = in_arena(a1.get_desc());
  convolve_back_.push_back({BackwardData(back),
                            {{DNNL_ARG_DIFF_DST, as(back.diff_dst_desc(), d_z2, convolve_back_)},
                             {DNNL_ARG_WEIGHTS, as(back.weights_desc(), w2, convolve_back_)},
                             {DNNL_ARG_DIFF_SRC, d_a1}}});
  constexpr auto of_output = dnnl::algorithm::eltwise_relu_use_dst_for_bwd;
  const dnnl::eltwise_forward::primitive_desc hint({prop_kind::forward_training, of_output, a1.get_desc(), 0, 0},
                                                   engine_);
  const dnnl::eltwise_backward::primitive_desc unrelu({of_output, a1.get_desc(), a1.get_desc(), 0, 0}, engine_, hint);
  convolve_back_.push_back(
      {dnnl::eltwise_backward(unrelu),
       {{DNNL_ARG_DST, a1}, {DNNL_ARG_DIFF_DST, as(a1.get_desc(), d_a1, convolve_back_)}, {DNNL_ARG_DIFF_SRC, d_z1}}});
  weights_of(first, x_, d_z1, g1, gb1);
}

void Layers::make_dense() {
  const Dims src_dims{images_, pooled}, w_dims{hidden, pooled}, dst_dims{images_, hidden};
  const memory p = in_state(src_dims, Tag::nc, [](const State& s) { return s.p; });
  const memory d_p = in_state(src_dims, Tag::nc, [](const State& s) { return s.d_p; });
  const memory h = in_state(dst_dims, Tag::nc, [](const State& s) { return s.h; });
  const memory d_h = in_state(dst_dims, Tag::nc, [](const State& s) { return s.d_h; });
  const memory w = in_state(w_dims, Tag::oi, [](const State& s) { return s.weights + fc1_weights; });
  const memory g = in_state(w_dims, Tag::oi, [](const State& s) { return s.gradient + fc1_weights; });

  using Forward = dnnl::inner_product_forward;
  const Forward::primitive_desc forward({prop_kind::forward_training, any(src_dims), any(w_dims), any(dst_dims)},
                                        engine_);
  const memory made = before(forward.dst_desc(), h);
  multiply_.push_back({Forward(forward),
                       {{DNNL_ARG_SRC, as(forward.src_desc(), p, multiply_)},
                        {DNNL_ARG_WEIGHTS, as(forward.weights_desc(), w, multiply_)},
                        {DNNL_ARG_DST, made}}});
  finish(made, h, multiply_);

  using BackwardWeights = dnnl::inner_product_backward_weights;
  const BackwardWeights::primitive_desc weights({any(src_dims), any(w_dims), any(dst_dims)}, engine_, forward);
  const memory made_g = before(weights.diff_weights_desc(), g);
  multiply_back_.push_back({BackwardWeights(weights),
                            {{DNNL_ARG_SRC, as(weights.src_desc(), p, multiply_back_)},
                             {DNNL_ARG_DIFF_DST, as(weights.diff_dst_desc(), d_h, multiply_back_)},
                             {DNNL_ARG_DIFF_WEIGHTS, made_g}}});
  finish(made_g, g, multiply_back_);
  using BackwardData = dnnl::inner_product_backward_data;
  const BackwardData::primitive_desc back({any(src_dims), any(w_dims), any(dst_dims)}, engine_, forward);
  const memory made_d = before(back.diff_src_desc(), d_p);
  multiply_back_.push_back({BackwardData(back),
                            {{DNNL_ARG_DIFF_DST, as(back.diff_dst_desc(), d_h, multiply_back_)},
                             {DNNL_ARG_WEIGHTS, as(back.weights_desc(), w, multiply_back_)},
                             {DNNL_ARG_DIFF_SRC, made_d}}});
  finish(made_d, d_p, multiply_back_);
}

}  // namespace league::cnn
