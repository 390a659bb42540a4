// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <algorithm>

#include "algorithms/collectives/collectives.hpp"
#include "algorithms/drivers/variant_shard.hpp"

namespace league::collectives {

/// On one shard: its buffers, one per repeat.
class Member : public VariantShard {
 public:
  using VariantShard::VariantShard;
  Launch configure(Launch launch) override {
    if (launch != Launch{}) throw Unsupported("the communicator chooses its own launch");
    return {};
  }
  /// The shard's message in a repeat; all but an exchange write the result here.
  [[nodiscard]] virtual Buffer message(int repeat) const = 0;
  /// The result of an exchange.
  [[nodiscard]] virtual Buffer received(int repeat) const = 0;
};

/// The repeats of a collective over all shards.
std::unique_ptr<Prepared> call(const Collectives& problem, const Context& context,
                               const std::function<std::unique_ptr<Member>(const Shard&)>& make);

/// Buffers in the arrays of a backend. Collectives work in place, so every reset restores the messages.
template <class Pass, class T>
class ArrayMember final : public Member {
 public:
  ArrayMember(const Collectives& problem, const Context& context, const Shard& shard)
      : Member(context, shard), problem_(problem) {
    const bool apart = problem.operation == Collectives::Operation::exchange;
    declare(messages_, "collectives/messages", problem.repeats * problem.n);
    declare(received_, "collectives/received", apart ? problem.repeats * problem.n : 0);
    output(apart ? received_ : messages_, 0);
  }
  void reset() override {
    VariantShard::reset();
    const std::span<const T> sent = problem_.sent_by<T>(index());
    for (int repeat = 0; repeat < problem_.repeats; ++repeat)
      messages_.copy_from(sent.subspan(static_cast<std::size_t>(repeat), static_cast<std::size_t>(problem_.n)),
                          repeat * problem_.n);
  }
  void download() override {
    if (problem_.operation == Collectives::Operation::reduce_scatter)
      download_pieces();
    else
      VariantShard::download();
  }
  [[nodiscard]] Buffer message(int repeat) const override {
    return buffer_of(messages_.data() + repeat * problem_.n, problem_.n);
  }
  [[nodiscard]] Buffer received(int repeat) const override {
    return buffer_of(received_.data() + repeat * problem_.n, problem_.n);
  }

 private:
  /// Only the own piece; the rest of a buffer is undefined.
  void download_pieces() {
    Output& to = result(0);
    const std::span<T> values = to.values.template values<T>(rows().begin - to.rows.begin, rows().end - to.rows.begin);
    if (values.empty()) return;
    std::ranges::fill(values, T{0});
    const Range own = piece_of(problem_.n, problem_.shards, index());
    for (int repeat = 0; repeat < problem_.repeats; ++repeat) {
      const std::int64_t first = repeat * problem_.n + own.begin;
      messages_.copy_to(values.subspan(static_cast<std::size_t>(first), static_cast<std::size_t>(own.size())), first);
    }
  }

  const Collectives& problem_;
  typename Pass::template Array<T> messages_, received_;
};

/// Registers all collectives, on the arrays of a model: those of its `Pass`.
template <class Pass>
struct RegisterCalls {
  explicit RegisterCalls(Model model) {
    for (const char* method : names)
      Register<Collectives>(
          method, model,
          [](const Collectives& problem, const Context& context) {
            return with_type<float, double>(problem.dtype, [&]<class T>() {
              return call(problem, context, [&](const Shard& shard) -> std::unique_ptr<Member> {
                return std::make_unique<ArrayMember<Pass, T>>(problem, context, shard);
              });
            });
          },
          recordable);
  }
};

}  // namespace league::collectives
