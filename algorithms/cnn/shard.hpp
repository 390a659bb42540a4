// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <algorithm>
#include <optional>

#include "algorithms/cnn/cnn.hpp"
#include "algorithms/cnn/loaded_input.hpp"
#include "algorithms/cnn/state.hpp"
#include "algorithms/drivers/training.hpp"
#include "backends/launch.hpp"

namespace league::cnn {

/// One shard's memory, in the model's arrays.
template <template <class> class Array, class Net = Mnist>
class CnnShard : public TrainingShard {
 public:
  CnnShard(const Cnn& problem, const Context& context, const Shard& shard)
      : TrainingShard(context, shard),
        problem_(problem),
        own_(part_of(problem.batch)),
        own_last_(part_of(problem.images_of(problem.batches() - 1))),
        last_(problem.trains ? part_of(problem.images_of(problem.warm_up + problem.steps - 1)) : Range{}),
        tests_(part_of(problem.evaluates ? problem.data.test.rows() : 0)) {
    if (problem.on_host) {
      loaded_input_.emplace(problem, *this, own_, own_last_);
    } else {
      input(train_, "cnn/train", problem.data.train.values<const std::uint8_t>());
      input(train_labels_, "cnn/train_labels", problem.data.train_labels.values<const std::int32_t>());
      input(order_, "cnn/order", problem.order.values<const std::int32_t>());
    }
    if (problem.evaluates) {
      input(test_, "cnn/test", problem.data.test.values<const std::uint8_t>());
      input(test_labels_, "cnn/test_labels", problem.data.test_labels.values<const std::int32_t>());
    }
    input(rates_, "cnn/rates", problem.rates.values<const float>());
    input(start_weights_, "cnn/start_weights", problem.initial.values<const float>());
    const std::int64_t states = blocks::states_of(problem.optimizer) * std::int64_t{Net::parameters};
    const std::int64_t images = std::max(own_.size(), std::int64_t{1});
    declare(start_state_, "cnn/start_state", states);
    declare(counters_, "cnn/counters", 4);
    declare(weights_, "cnn/weights", Net::parameters);
    declare(state_, "cnn/state", states);
    declare(weights_before_, "cnn/weights_before", problem.trains ? Net::parameters : 0);
    declare(state_before_, "cnn/state_before", problem.trains ? states : 0);
    declare(gradient_, "cnn/gradient", Net::parameters + 1);
    declare(loss_, "cnn/loss", problem.steps);
    declare(p_, "cnn/p", images * Net::flat);
    declare(d_p_, "cnn/d_p", images * Net::flat);
    declare(h_, "cnn/h", images * Net::hidden);
    declare(d_h_, "cnn/d_h", images * Net::hidden);
    declare(d_logits_, "cnn/d_logits", images * classes);
    declare(losses_, "cnn/losses", images);
    declare(pool_decisions_, "cnn/pool_decisions", images * Net::decisions);
    declare(hidden_decisions_, "cnn/hidden_decisions", images * Net::hidden);
    declare(correct_, "cnn/correct", problem.tests());
    declare(predictions_, "cnn/predictions", tests_.size());
    whole_output(loss_, Cnn::loss);
    whole_output(weights_, Cnn::weights);
    whole_output(state_, Cnn::state);
    whole_output(weights_before_, Cnn::weights_before);
    whole_output(state_before_, Cnn::state_before);
    whole_output(correct_, Cnn::correct);
  }

  [[nodiscard]] Timing timing() const override { return {.host_feeds = problem_.on_host}; }
  void upload() override {
    TrainingShard::upload();
    if (loaded_input_) loaded_input_->prepare();
    start_state_.clear();
    counters_.clear();
  }
  void reset() override {
    TrainingShard::reset();
    gradient_.poison();
    pool_decisions_.poison();
    hidden_decisions_.poison();
    predictions_.poison();
  }
  void download() override {
    TrainingShard::download();
    if (problem_.trains && index() == world().first_local)
      gradient_.copy_to(result(Cnn::gradient).values.template values<float>());
    pool_decisions_.copy_to(result(Cnn::pool_decisions).values.template values<std::uint8_t>(last_.begin, last_.end));
    hidden_decisions_.copy_to(
        result(Cnn::hidden_decisions).values.template values<std::uint8_t>(last_.begin, last_.end));
    predictions_.copy_to(result(Cnn::predictions).values.template values<std::int32_t>(tests_.begin, tests_.end));
  }
  void start_input(Range steps, Stages& stages) override {
    if (loaded_input_) loaded_input_->start(steps, stages);
  }
  void take_input(Stages& stages) override {
    if (loaded_input_) loaded_input_->take(stages);
  }
  /// `form`: of the outputs.
  void take_form(const char* form) { result(Cnn::gradient).form = form; }
  /// The dense layers' gradients with the loss, then the convolutions'. A sharded optimizer splits the first dense
  /// layer's weights: of the network `mnist` 98 % of all parameters.
  [[nodiscard]] std::vector<GradientPiece> pieces(int phase) const override {
    constexpr int dense = Net::fc1_weights, biases = Net::fc1_biases, all = Net::parameters + 1;
    const auto of = [](const Array<float>& values, int begin, int end) {
      return buffer_of(values.data() + begin, end - begin);
    };
    if (phase > 0) return {{of(gradient_, 0, dense)}};
    if (!is_sharded()) return {{of(gradient_, dense, all)}};
    return {{of(gradient_, dense, biases), of(weights_, dense, biases)}, {of(gradient_, biases, all)}};
  }
  [[nodiscard]] std::vector<Buffer> sharded_results() const override {
    if (!is_sharded()) return {};
    std::vector<Buffer> all{buffer_of(gradient_.data() + Net::fc1_weights, sharded_parameters)};
    for (int n = 0; n < blocks::states_of(problem_.optimizer); ++n)
      for (const Array<float>* values : {&state_, &state_before_})
        if (values->size() > 0)
          all.push_back(buffer_of(values->data() + n * Net::parameters + Net::fc1_weights, sharded_parameters));
    return all;
  }
  [[nodiscard]] Buffer correct() const override { return buffer_of(counters_.data() + 3, 1); }

 protected:
  [[nodiscard]] const Cnn& problem() const { return problem_; }
  /// Whether each shard updates a piece of the first dense layer's weights only.
  [[nodiscard]] bool is_sharded() const { return problem_.shards_optimizer && problem_.trains && !is_alone(); }
  /// The parameters that this shard updates on its own.
  [[nodiscard]] Range own_parameters() const {
    const Range own = part_of(sharded_parameters);
    return {Net::fc1_weights + own.begin, Net::fc1_weights + own.end};
  }
  /// Maximum images per batch on this shard.
  [[nodiscard]] std::int64_t max_images() const { return own_.size(); }
  [[nodiscard]] std::int64_t test_images() const { return tests_.size(); }
  [[nodiscard]] StateOf<Net> memory() const {
    return {.train = train_.data(),
            .test = test_.data(),
            .train_labels = train_labels_.data(),
            .test_labels = test_labels_.data(),
            .order = order_.data(),
            .staged = loaded_input_ ? loaded_input_->buffers() : nullptr,
            .layout = loaded_input_ ? loaded_input_->layout() : BatchLayout{},
            .rates = rates_.data(),
            .step = counters_.data(),
            .start_step = counters_.data() + 1,
            .epoch = counters_.data() + 2,
            .weights = weights_.data(),
            .state = state_.data(),
            .start_weights = start_weights_.data(),
            .start_state = start_state_.data(),
            .weights_before = weights_before_.data(),
            .state_before = state_before_.data(),
            .gradient = gradient_.data(),
            .loss = loss_.data(),
            .p = p_.data(),
            .d_p = d_p_.data(),
            .h = h_.data(),
            .d_h = d_h_.data(),
            .d_logits = d_logits_.data(),
            .losses = losses_.data(),
            .pool_decisions = pool_decisions_.data(),
            .hidden_decisions = hidden_decisions_.data(),
            .correct_here = counters_.data() + 3,
            .correct = correct_.data(),
            .predictions = predictions_.data(),
            .images = problem_.extent(),
            .batch = problem_.batch,
            .batches = problem_.batches(),
            .warm_up = problem_.warm_up,
            .steps = problem_.steps,
            .own_first = own_.begin,
            .own_count = own_.size(),
            .own_last_first = own_last_.begin,
            .own_last_count = own_last_.size(),
            .test_first = tests_.begin,
            .test_count = tests_.size(),
            .optimizer = problem_.optimizer,
            .dropout = problem_.dropout};
  }

 private:
  static constexpr int sharded_parameters = Net::fc1_biases - Net::fc1_weights;
  [[nodiscard]] Range part_of(std::int64_t all) const {
    return piece_of(all, static_cast<std::int64_t>(world().rows.size()), index());
  }
  const Cnn& problem_;
  Range own_, own_last_, last_;  ///< of a whole batch, of an epoch's last one, of the last step's
  Range tests_;
  std::optional<LoadedInput<Array>> loaded_input_;
  Array<std::uint8_t> train_, test_, pool_decisions_, hidden_decisions_;
  Array<std::int32_t> train_labels_, test_labels_, order_, predictions_;
  Array<float> rates_, weights_, state_, start_weights_, start_state_, weights_before_, state_before_, gradient_, loss_;
  Array<float> p_, d_p_, h_, d_h_, d_logits_, losses_;
  Array<std::int64_t> counters_, correct_;  ///< `step`, `start_step`, `epoch`, `correct_here`
};

inline Schedule schedule_of(const Cnn& problem) {
  const bool in_epochs = problem.trains && problem.evaluates;
  return {.steps = in_epochs ? problem.batches() : problem.steps,
          .epochs = in_epochs ? problem.epochs : 1,
          .warm_up = problem.warm_up,
          .evaluates = problem.evaluates};
}

/// In place of a training that does not exist: why it is skipped.
struct NotInThisModel {
  static constexpr const char* reason = "not by this method in this model";
};
struct NothingRouted {
  static constexpr const char* reason = "its backward pass is not routed, so that tensor_tf32 and tensor_bf16 are this";
};
/// Registers a training; `P`, or for the network `cifar10` the other, is made from (problem, context, shard).
template <class P, class OfCifar10 = NotInThisModel>
struct RegisterTraining {
  RegisterTraining(std::string method, WrittenModel model, std::vector<Execution> executions = recordable) {
    Register<Cnn>(
        std::move(method), std::move(model),
        [](const Cnn& problem, const Context& context) {
          return train(context, schedule_of(problem),
                       [&](const Shard& shard) { return make(problem, context, shard); });
        },
        std::move(executions));
  }

 private:
  static std::unique_ptr<TrainingShard> make(const Cnn& problem, const Context& context, const Shard& shard) {
    if (problem.on_host && context.execution != Execution::stream)
      throw Unsupported("input = host: a graph cannot load images on the host; take execution = stream");
    if (problem.network.name == mnist.name) return std::make_unique<P>(problem, context, shard);
    if constexpr (requires { OfCifar10::reason; })
      throw Unsupported("network " + std::string(problem.network.name) + ": " + OfCifar10::reason);
    else
      return std::make_unique<OfCifar10>(problem, context, shard);
  }
};

}  // namespace league::cnn
