// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "algorithms/split.hpp"

#include <cstring>

namespace league {

void Part::reset() {
  for (const auto& poison : poisons_) poison();
}
void Part::upload() {
  for (const auto& upload : uploads_) upload();
}
void Part::download(const Outputs& outputs) {
  for (const auto& download : downloads_) download(outputs);
}

namespace {

class Split final : public Prepared {
 public:
  Split(const Problem& problem, const Context& context, const std::function<std::unique_ptr<Part>(const Shard&)>& make)
      : outputs_(problem.make_outputs(context.runtime.host_memory())) {
    for (const Shard& shard : context.shards) parts_.push_back(make(shard));
    for (const auto& part : parts_) part->bind(outputs_);
  }
  Launch configure(Launch launch) override {
    Launch effective;
    for (const auto& part : parts_) {
      const Launch its_own = part->configure(launch);
      if (part == parts_.front()) effective = its_own;  // the first shard is the largest
    }
    return effective;
  }
  [[nodiscard]] Timing timing() const override { return parts_.front()->timing(); }
  void upload() override {
    for (const auto& part : parts_) part->upload();
  }
  void reset() override {
    for (const Output& output : outputs_)
      if (!output.values.bytes().empty()) std::memset(output.values.bytes().data(), 0xff, output.values.bytes().size());
    for (const auto& part : parts_) part->reset();
  }
  void compute(Stages& stages) override {
    for (const auto& part : parts_)
      if (part->rows().size() > 0) part->compute(stages);
  }
  const Outputs& download() override {
    for (const auto& part : parts_) part->download(outputs_);
    return outputs_;
  }
  void fence() override {
    for (const auto& part : parts_) part->fence();
  }

 private:
  Outputs outputs_;
  std::vector<std::unique_ptr<Part>> parts_;
};

}  // namespace

std::unique_ptr<Prepared> split(const Problem& problem, const Context& context,
                                const std::function<std::unique_ptr<Part>(const Shard&)>& make) {
  return std::make_unique<Split>(problem, context, make);
}

}  // namespace league
