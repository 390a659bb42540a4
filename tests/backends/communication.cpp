// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "tests/backends/communication.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "algorithms/contract/partition.hpp"
#include "algorithms/oracle/generate.hpp"

namespace league::tests {

MakeExchangeProbe& exchange_probe_on_gpu() {
  static MakeExchangeProbe make = nullptr;
  return make;
}
AddByViews& add_by_views_on_gpu() {
  static AddByViews add = nullptr;
  return add;
}

namespace {

template <class T>
class HostProbe final : public ExchangeProbe {
 public:
  HostProbe(Queue& queue, const ProbeRounds& rounds)
      : queue_(queue), rounds_(rounds), values_(static_cast<std::size_t>(rounds.sent.row_size() + rounds.skew)) {}
  [[nodiscard]] Buffer buffer() override { return buffer_of(values(), rounds_.sent.row_size()); }
  void fill() override {
    queue_.submit([this] { std::ranges::copy(row(rounds_.sent), values()); });
  }
  void compare(Range part) override {
    queue_.submit([this, part] {
      for (std::int64_t i = part.begin; i < part.end; ++i) {
        const T value = values()[i], right = row(rounds_.expected)[static_cast<std::size_t>(i)];
        const double difference = std::abs(static_cast<double>(value) - static_cast<double>(right));
        if (!(value == right || (rounds_.tolerance > 0 && difference <= rounds_.tolerance))) ++wrong_;
      }
      ++round_;
    });
  }
  [[nodiscard]] std::int64_t wrong() override { return wrong_; }
  [[nodiscard]] std::vector<double> read() override { return {values_.begin() + rounds_.skew, values_.end()}; }

 private:
  [[nodiscard]] T* values() { return values_.data() + rounds_.skew; }
  [[nodiscard]] std::span<const T> row(const HostArray& all) const {
    const std::int64_t now = round_ % all.rows();
    return all.values<const T>(now, now + 1);
  }
  Queue& queue_;
  ProbeRounds rounds_;
  std::vector<T> values_;
  std::int64_t round_ = 0, wrong_ = 0;
};

/// 64-bit integers that use both stamped words; sums over 16 shards fit.
template <class T>
T value_of(std::size_t shard, std::size_t i) {
  if constexpr (std::is_floating_point_v<T>) {
    constexpr std::array<T, 5> scales{T(1.0), T(1e-3), T(1e3), T(1e-6), T(1e6)};
    return random_value<T>(1, shard, i) * scales[(shard + i) % scales.size()];
  } else {
    return static_cast<T>(random_bits(1, shard, i)) / 32;
  }
}

/// Exchange between neighbours on a ring: the values next to the `halo` outer ones replace the outer ones of the
/// neighbour.
std::int64_t halo_of(std::int64_t size) { return size / 4; }

std::vector<Transfer> transfers_of(const Partition& world, std::span<const Buffer> local) {
  const int shards = static_cast<int>(world.rows.size());
  const auto is_local = [&](int shard) {
    return shard >= world.first_local && shard < world.first_local + world.local;
  };
  /// For another rank's buffer only the size is known.
  const auto buffer_of_shard = [&](int shard) {
    return is_local(shard) ? local[static_cast<std::size_t>(shard - world.first_local)]
                           : Buffer{nullptr, local.front().size, local.front().type};
  };
  std::vector<Transfer> transfers;
  for (int from = 0; from < shards; ++from)
    for (const bool up : {true, false}) {
      const int to = (from + (up ? 1 : shards - 1)) % shards;
      if (!is_local(from) && !is_local(to)) continue;
      const Buffer source = buffer_of_shard(from), target = buffer_of_shard(to);
      const auto unit = static_cast<std::int64_t>(size_bytes(source.type));
      const std::int64_t halo = halo_of(source.size), size = source.size;
      transfers.push_back({from, to, static_cast<std::byte*>(source.data) + (up ? size - 2 * halo : halo) * unit,
                           static_cast<std::byte*>(target.data) + (up ? 0 : size - halo) * unit, halo * unit});
    }
  return transfers;
}

/// Expected value `i` of shard `to`, from the values of all shards in the same round.
template <class T>
T expected_value(Operation operation, const std::vector<std::span<const T>>& sent, std::size_t to, std::size_t i) {
  const std::size_t shards = sent.size();
  const auto size = static_cast<std::int64_t>(sent.front().size());
  if (shards == 1) return sent[0][i];
  if (operation == Operation::broadcast) return sent[0][i];
  if (operation == Operation::all_gather) {
    std::size_t from = 0;
    while (static_cast<std::int64_t>(i) >= piece_of(size, static_cast<int>(shards), static_cast<int>(from)).end) ++from;
    return sent[from][i];
  }
  if (operation == Operation::exchange) {
    const auto halo = static_cast<std::size_t>(halo_of(size));
    if (i < halo) return sent[(to + shards - 1) % shards][sent[0].size() - 2 * halo + i];
    if (i >= sent[0].size() - halo) return sent[(to + 1) % shards][halo + i - (sent[0].size() - halo)];
    return sent[to][i];
  }
  T sum = 0;
  for (const auto& one : sent) sum += one[i];
  return sum;
}

void call_on(Communicator& communicator, const Partition& world, const Plan& plan, std::span<const Buffer> buffers) {
  if (plan.operation == Operation::all_reduce) return communicator.all_reduce(buffers, plan.order, plan.queue);
  if (plan.operation == Operation::reduce_scatter) return communicator.reduce_scatter(buffers, plan.order, plan.queue);
  if (plan.operation == Operation::all_gather) return communicator.all_gather(buffers, plan.queue);
  if (plan.operation == Operation::broadcast) return communicator.broadcast(buffers, plan.queue);
  if (!world.alone()) communicator.exchange(transfers_of(world, buffers), plan.queue);
}

}  // namespace

std::ostream& operator<<(std::ostream& out, const EngineSetting& setting) {
  return out << setting.engine << "_on_" << setting.devices << (setting.kind == DeviceKind::gpu ? "_gpus" : "_hosts");
}

std::vector<EngineSetting> engine_settings() {
  std::vector<EngineSetting> all;
  for (const auto& [kind, max_devices] : {std::pair{DeviceKind::host, 3}, {DeviceKind::gpu, 4}})
    for (const std::string& engine : engine_names(kind)) {
      if (engine == "paired") continue;  // simulated processes: tests/test_paired.cpp
      const bool one_will_do = engine == "local" || engine == "nccl" || engine == "mpi";  // the latter over ranks
      for (int devices = one_will_do ? 1 : 2; devices <= max_devices; ++devices) all.push_back({engine, kind, devices});
    }
  return all;
}

std::ostream& operator<<(std::ostream& out, const Plan& plan) {
  constexpr std::array names{"all_reduce", "reduce_scatter", "all_gather", "broadcast", "exchange"};
  return out << names[static_cast<std::size_t>(plan.operation)] << " of " << plan.size << " " << name(plan.type)
             << (plan.order == Order::any ? " any" : " ordered") << " queue " << plan.queue << " skew " << plan.skew
             << " " << plan.skew_every_other;
}

HostArray sent_by(std::size_t shard, std::int64_t size, Dtype type) {
  HostArray sent(runtime().host_memory(), type, {probe_rounds, size});
  with_sum_type(type, [&]<class T>() {
    const auto values = sent.values<T>();
    for (std::size_t i = 0; i < values.size(); ++i) values[i] = value_of<T>(shard, i);
  });
  return sent;
}

std::vector<double> first_round(const HostArray& all) {
  const auto values = all.values<double>(0, 1);
  return {values.begin(), values.end()};
}

std::unique_ptr<ExchangeProbe> make_probe(Queue& queue, const ProbeRounds& rounds) {
  if (queue.device().kind == DeviceKind::gpu) return exchange_probe_on_gpu()(queue, rounds);
  std::unique_ptr<ExchangeProbe> made;
  with_sum_type(rounds.sent.dtype(), [&]<class T>() { made = std::make_unique<HostProbe<T>>(queue, rounds); });
  return made;
}

void Communication::SetUp() {
  const EngineSetting& setting = GetParam();
  const Ranks::Place& place = runtime_.ranks().place();
  const int shards = setting.devices * place.size;
  if (setting.kind == DeviceKind::gpu && shards > runtime_.gpus_of_all_ranks())
    GTEST_SKIP() << "needs " << shards << " GPUs, " << runtime_.gpus_of_all_ranks() << " here";
  if (setting.kind == DeviceKind::gpu && exchange_probe_on_gpu() == nullptr)
    GTEST_SKIP() << "this build has no probe for its GPUs";
  world_ = partition(shards, setting.devices, place.rank, place.size);
  shards_ = local_shards(world_, runtime_.devices(setting.kind, shards));
  for (const Shard& shard : shards_) queues_.push_back(&runtime_.queue(shard.device));
  try {
    communicator_ = make_communicator(runtime_, shards_, world_, setting.engine);
  } catch (const Unsupported& reason) {
    GTEST_SKIP() << reason.what();
  }
}

/// A different order changes each addition by half an epsilon. Otherwise results are bitwise equal.
double Communication::tolerance(const Plan& plan, double magnitude) const {
  const bool may_differ = GetParam().engine == "nccl" || GetParam().engine == "mpi" || GetParam().engine == "auto";
  if (!may_differ || plan.order == Order::ordered || plan.operation > Operation::reduce_scatter) return 0;
  double epsilon = 0;
  with_sum_type(plan.type, [&]<class T>() { epsilon = static_cast<double>(std::numeric_limits<T>::epsilon()); });
  return static_cast<double>(world_.rows.size() - 1) * epsilon * magnitude;
}

void Communication::fence() {
  for (const Shard& shard : shards_)
    for (int queue = 0; queue < Communicator::queue_count; ++queue) runtime_.queue(shard.device, queue).fence();
}

Communication::Trial::Trial(Communication& test, const Plan& plan) : test_(test), plan_(plan) {
  const std::size_t shards = test.world_.rows.size();
  std::vector<ProbeRounds> all(shards);
  for (std::size_t shard = 0; shard < shards; ++shard) {
    all[shard].sent = sent_by(shard, plan.size, plan.type);
    all[shard].expected = HostArray(runtime().host_memory(), plan.type, {probe_rounds, plan.size});
    all[shard].skew = plan.skew + (shard % 2 == 1 ? plan.skew_every_other : 0);
  }
  double magnitude = 0;
  with_sum_type(plan.type, [&]<class T>() {
    for (std::int64_t round = 0; round < probe_rounds; ++round) {
      std::vector<std::span<const T>> sent;
      for (const ProbeRounds& one : all) sent.push_back(one.sent.values<const T>(round, round + 1));
      for (std::size_t i = 0; i < sent.front().size(); ++i) {
        double sum = 0;
        for (std::size_t shard = 0; shard < shards; ++shard) {
          all[shard].expected.values<T>(round, round + 1)[i] = expected_value<T>(plan.operation, sent, shard, i);
          sum += std::abs(static_cast<double>(sent[shard][i]));
        }
        magnitude = std::max(magnitude, sum);
      }
    }
  });
  for (std::size_t i = 0; i < test.shards_.size(); ++i) {
    ProbeRounds& rounds = all[static_cast<std::size_t>(test.shards_[i].index)];
    rounds.tolerance = test.tolerance(plan, magnitude);
    probes_.push_back(make_probe(*test.queues_[i], rounds));
  }
  test.communicator_->reserve(buffers().front().bytes(), plan.order, plan.queue);
}

std::vector<Buffer> Communication::Trial::buffers() const {
  std::vector<Buffer> all;
  for (const auto& probe : probes_) all.push_back(probe->buffer());
  return all;
}

void Communication::Trial::fill() {
  for (const auto& probe : probes_) probe->fill();
}

void Communication::Trial::between_queues(bool back) {
  if (plan_.queue == 0) return;
  for (Queue* first : test_.queues_) {
    Queue& other = test_.runtime_.queue(first->device(), plan_.queue);
    back ? first->wait_for(other) : other.wait_for(*first);
  }
}

void Communication::Trial::call() {
  between_queues(false);
  call_on(*test_.communicator_, test_.world_, plan_, buffers());
}

void Communication::Trial::compare() {
  between_queues(true);
  for (std::size_t i = 0; i < probes_.size(); ++i)
    if (plan_.operation == Operation::reduce_scatter)
      probes_[i]->compare(piece_of(plan_.size, std::ssize(test_.world_.rows), test_.shards_[i].index));
    else
      probes_[i]->compare();
}

void Communication::Trial::expect_right() {
  for (std::size_t i = 0; i < probes_.size(); ++i)
    EXPECT_EQ(probes_[i]->wrong(), 0) << plan_ << ", shard " << test_.shards_[i].index;
}

}  // namespace league::tests
