// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "algorithms/cnn/onednn_layers.hpp"

namespace league::cnn {
namespace {

using dnnl::memory, dnnl::primitive_attr, dnnl::prop_kind;
using Tag = memory::format_tag;

constexpr std::int64_t line = 16;  ///< floats per cache line: alignment of tensors

const memory::dims one{1, 1}, none{0, 0}, two{2, 2};
constexpr auto direct = dnnl::algorithm::convolution_direct;
constexpr auto relu = dnnl::algorithm::eltwise_relu_use_dst_for_bwd;

memory::desc any(const memory::dims& dims) { return {dims, memory::data_type::f32, Tag::any}; }

}  // namespace

template <class N>
Layers<N>::Layers(const dnnl::engine& engine, int images) : engine_(engine), stream_(engine), images_(images) {
  make_convolutions();
  make_dense();
}

template <class N>
void Layers<N>::bind(const State& state, float* arena) {
  for (auto& [tensor, at] : arena_) tensor.set_data_handle(arena + at);
  for (auto& [tensor, place] : state_) tensor.set_data_handle(place(state));
}

template <class N>
void Layers<N>::run(const Calls& calls) const {
  for (const auto& [primitive, arguments] : calls) primitive.execute(stream_, arguments);
  stream_.wait();
}

template <class N>
memory Layers<N>::in_arena(const memory::desc& desc) {
  memory tensor(desc, engine_, DNNL_MEMORY_NONE);
  arena_.emplace_back(tensor, size_);
  const auto bytes = static_cast<std::int64_t>(desc.get_size());
  size_ += (bytes / 4 + line) / line * line;
  return tensor;
}
template <class N>
memory Layers<N>::in_state(const Dims& dims, Tag tag, Place place) {
  memory tensor({dims, memory::data_type::f32, tag}, engine_, DNNL_MEMORY_NONE);
  state_.emplace_back(tensor, place);
  return tensor;
}
template <class N>
memory Layers<N>::as(const memory::desc& wanted, const memory& from, Calls& calls) {
  if (wanted == from.get_desc()) return from;
  memory to = in_arena(wanted);
  finish(from, to, calls);
  return to;
}
template <class N>
memory Layers<N>::before(const memory::desc& made, const memory& to) {
  return made == to.get_desc() ? to : in_arena(made);
}
template <class N>
void Layers<N>::finish(const memory& made, const memory& to, Calls& calls) const {
  if (made.get_desc() != to.get_desc())
    calls.push_back({dnnl::reorder(made, to), {{DNNL_ARG_FROM, made}, {DNNL_ARG_TO, to}}});
}

template <class N>
template <int n>
memory Layers<N>::weights_of(bool gradient) {
  using L = cnn::Layer<N, n>;
  return in_state({L::outputs, L::inputs, 3, 3}, Tag::oihw,
                  gradient ? Place([](const State& s) { return s.gradient + L::weights; })
                           : Place([](const State& s) { return s.weights + L::weights; }));
}
template <class N>
template <int n>
memory Layers<N>::biases_of(bool gradient) {
  using L = cnn::Layer<N, n>;
  return in_state({L::outputs}, Tag::x,
                  gradient ? Place([](const State& s) { return s.gradient + L::biases; })
                           : Place([](const State& s) { return s.weights + L::biases; }));
}

/// The ReLU of a layer without a pool is fused (post-op); that of the last one is ours.
template <class N>
template <int n>
memory Layers<N>::make_forward(const memory& input) {
  using L = cnn::Layer<N, n>;
  const Dims x_dims{images_, L::inputs, L::side, L::side}, w_dims{L::outputs, L::inputs, 3, 3};
  const Dims z_dims{images_, L::outputs, L::to_side, L::to_side};
  const Dims a_dims{images_, L::outputs, L::window_side, L::window_side};
  Layer& layer = layers_[n];
  primitive_attr after;
  if (!L::pools && !L::last) {
    dnnl::post_ops then;
    then.append_eltwise(1, dnnl::algorithm::eltwise_relu, 0, 0);
    after.set_post_ops(then);
  }
  const memory biases = biases_of<n>(false);
  layer.forward = {
      {prop_kind::forward_training, direct, any(x_dims), any(w_dims), biases.get_desc(), any(z_dims), one, none, none},
      after,
      engine_};
  layer.input = input;
  layer.weights = weights_of<n>(false);
  layer.z = L::last && !L::pools ? before(layer.forward.dst_desc(), p_) : in_arena(layer.forward.dst_desc());
  convolve_.push_back({dnnl::convolution_forward(layer.forward),
                       {{DNNL_ARG_SRC, as(layer.forward.src_desc(), input, convolve_)},
                        {DNNL_ARG_WEIGHTS, as(layer.forward.weights_desc(), layer.weights, convolve_)},
                        {DNNL_ARG_BIAS, biases},
                        {DNNL_ARG_DST, layer.z}}});
  memory output = layer.z;
  if constexpr (L::pools) {
    layer.pool = {{prop_kind::forward_training, dnnl::algorithm::pooling_max, layer.z.get_desc(), any(a_dims), two, two,
                   none, none},
                  engine_};
    output = L::last ? before(layer.pool.dst_desc(), p_) : in_arena(layer.pool.dst_desc());
    layer.places = in_arena(layer.pool.workspace_desc());
    convolve_.push_back({dnnl::pooling_forward(layer.pool),
                         {{DNNL_ARG_SRC, layer.z}, {DNNL_ARG_DST, output}, {DNNL_ARG_WORKSPACE, layer.places}}});
    if constexpr (!L::last) {
      const dnnl::eltwise_forward::primitive_desc rectify({prop_kind::forward_training, relu, output.get_desc(), 0, 0},
                                                          engine_);
      convolve_.push_back({dnnl::eltwise_forward(rectify), {{DNNL_ARG_SRC, output}, {DNNL_ARG_DST, output}}});
    }
  }
  if constexpr (L::last)
    finish(output, p_, convolve_);
  else
    layer.output = output;
  if constexpr (L::of.decides) {
    auto& [values, places] = decided_[n];
    values = L::last ? p_ : as({a_dims, memory::data_type::f32, Tag::nchw}, output, convolve_);
    if constexpr (L::pools) places = as({a_dims, memory::data_type::u8, Tag::nchw}, layer.places, convolve_);
  }
  return output;
}

template <class N>
template <int n>
memory Layers<N>::make_backward(const memory& gradient) {
  using L = cnn::Layer<N, n>;
  Layer& layer = layers_[n];
  memory d = gradient;
  if constexpr (!L::last) {
    const memory::desc desc = layer.output.get_desc();
    const dnnl::eltwise_forward::primitive_desc hint({prop_kind::forward_training, relu, desc, 0, 0}, engine_);
    const dnnl::eltwise_backward::primitive_desc rectify({relu, desc, desc, 0, 0}, engine_, hint);
    d = in_arena(desc);
    convolve_back_.push_back({dnnl::eltwise_backward(rectify),
                              {{DNNL_ARG_DST, layer.output},
                               {DNNL_ARG_DIFF_DST, as(desc, gradient, convolve_back_)},
                               {DNNL_ARG_DIFF_SRC, d}}});
  }
  if constexpr (L::pools) {
    const memory d_z = in_arena(layer.z.get_desc());
    const dnnl::pooling_backward::primitive_desc unpool(
        {dnnl::algorithm::pooling_max, d_z.get_desc(), layer.pool.dst_desc(), two, two, none, none}, engine_,
        layer.pool);
    convolve_back_.push_back({dnnl::pooling_backward(unpool),
                              {{DNNL_ARG_DIFF_DST, as(layer.pool.dst_desc(), d, convolve_back_)},
                               {DNNL_ARG_WORKSPACE, layer.places},
                               {DNNL_ARG_DIFF_SRC, d_z}}});
    d = d_z;
  }
  const Dims x_dims = layer.input.get_desc().dims(), w_dims{L::outputs, L::inputs, 3, 3};
  const Dims z_dims = layer.z.get_desc().dims();
  const memory g = weights_of<n>(true), gb = biases_of<n>(true);
  const dnnl::convolution_backward_weights::primitive_desc weights(
      {direct, any(x_dims), any(w_dims), gb.get_desc(), any(z_dims), one, none, none}, engine_, layer.forward);
  const memory made = before(weights.diff_weights_desc(), g);
  convolve_back_.push_back({dnnl::convolution_backward_weights(weights),
                            {{DNNL_ARG_SRC, as(weights.src_desc(), layer.input, convolve_back_)},
                             {DNNL_ARG_DIFF_DST, as(weights.diff_dst_desc(), d, convolve_back_)},
                             {DNNL_ARG_DIFF_WEIGHTS, made},
                             {DNNL_ARG_DIFF_BIAS, gb}}});
  finish(made, g, convolve_back_);
  if constexpr (L::first) {
    return {};
  } else {
    const dnnl::convolution_backward_data::primitive_desc back(
        {direct, any(x_dims), any(w_dims), any(z_dims), one, none, none}, engine_, layer.forward);
    memory d_input = in_arena(back.diff_src_desc());
    convolve_back_.push_back({dnnl::convolution_backward_data(back),
                              {{DNNL_ARG_DIFF_DST, as(back.diff_dst_desc(), d, convolve_back_)},
                               {DNNL_ARG_WEIGHTS, as(back.weights_desc(), layer.weights, convolve_back_)},
                               {DNNL_ARG_DIFF_SRC, d_input}}});
    return d_input;
  }
}

template <class N>
void Layers<N>::make_convolutions() {
  using First = cnn::Layer<N, 0>;
  using Last = cnn::Layer<N, count - 1>;
  const Dims x_dims{images_, First::inputs, First::side, First::side};
  const Dims p_dims{images_, Last::outputs, Last::window_side, Last::window_side};
  x_ = in_arena({x_dims, memory::data_type::f32, Tag::nchw});
  p_ = in_state(p_dims, Tag::nchw, [](const State& s) { return s.p; });
  d_p_ = in_state(p_dims, Tag::nchw, [](const State& s) { return s.d_p; });
  memory passed = x_, gradient = d_p_;
  [&]<int... n>(std::integer_sequence<int, n...>) {
    ((passed = make_forward<n>(passed)), ...);
    ((gradient = make_backward<count - 1 - n>(gradient)), ...);
  }(std::make_integer_sequence<int, count>());
}

template <class N>
void Layers<N>::make_dense() {
  const Dims src_dims{images_, N::flat}, w_dims{N::hidden, N::flat}, dst_dims{images_, N::hidden};
  const memory p = in_state(src_dims, Tag::nc, [](const State& s) { return s.p; });
  const memory d_p = in_state(src_dims, Tag::nc, [](const State& s) { return s.d_p; });
  const memory h = in_state(dst_dims, Tag::nc, [](const State& s) { return s.h; });
  const memory d_h = in_state(dst_dims, Tag::nc, [](const State& s) { return s.d_h; });
  const memory w = in_state(w_dims, Tag::oi, [](const State& s) { return s.weights + N::fc1_weights; });
  const memory g = in_state(w_dims, Tag::oi, [](const State& s) { return s.gradient + N::fc1_weights; });

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

template class Layers<Mnist>;
template class Layers<Cifar10>;

}  // namespace league::cnn
