// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "algorithms/cnn/networks.hpp"
#include "algorithms/contract/registry.hpp"

namespace league::cnn {

/// Only images of a network's size are accepted: random problems take the default.
inline std::vector<Parameter> with_size_of_image(std::vector<Parameter> own) {
  std::vector<Parameter> all = with_dataset_sizes(std::move(own));
  for (Parameter& parameter : all)
    if (parameter.name == "features")
      parameter.default_value = std::to_string(pixels), parameter.min = pixels, parameter.max = cifar10.pixels(),
      parameter.choices = {"784", "3072"}, parameter.description = "values of an image: 784 of mnist, 3072 of cifar10";
  return all;
}

/// The study keys of cnn.
inline std::vector<Parameter> parameter_list() {
  return with_size_of_image(
      {{.name = "network",
        .kind = Parameter::Kind::choice,
        .default_value = "mnist",
        .choices = {"mnist", "cifar10"},
        .description = "1,199,882 parameters, of MNIST's example; or 122,570, without dropout"},
       {.name = "task",
        .kind = Parameter::Kind::choice,
        .default_value = "train",
        .choices = {"train", "inference"},
        .description = "inference: the test images are classified, after `warm_up` steps of training"},
       {.name = "batch",
        .default_value = "64",
        .min = 1,
        .description = "images per step, at most all training images"},
       {.name = "steps",
        .default_value = "0",
        .min = 0,
        .max = 1'000'000,
        .description = "number of steps, without tests; 0: run `epochs`"},
       {.name = "epochs",
        .default_value = "1",
        .min = 1,
        .max = 1'000,
        .description = "passes over all images, each followed by a test"},
       {.name = "warm_up",
        .default_value = "0",
        .min = 0,
        .max = 1'000'000,
        .description = "untimed steps before the first"},
       {.name = "optimizer",
        .kind = Parameter::Kind::choice,
        .default_value = "adadelta",
        .choices = {"adadelta", "sgd", "adam"},
        .description = "update rule"},
       {.name = "learning_rate",
        .kind = Parameter::Kind::real,
        .default_value = "1",
        .interval = {.min = 0, .max = 1e6, .open_min = true},
        .description = "learning rate of the first epoch"},
       {.name = "gamma",
        .kind = Parameter::Kind::real,
        .default_value = "0.7",
        .interval = {.min = 0, .max = 1, .open_min = true},
        .description = "factor of the learning rate per epoch"},
       {.name = "dropout",
        .kind = Parameter::Kind::choice,
        .default_value = "on",
        .choices = {"on", "off"},
        .description = "drops 1/4 of the values after the pool and 1/2 of the hidden ones"},
       {.name = "shard_optimizer",
        .kind = Parameter::Kind::choice,
        .default_value = "off",
        .choices = {"off", "on"},
        .description = "on several devices each updates its piece of the largest layer"},
       {.name = "input",
        .kind = Parameter::Kind::choice,
        .default_value = "device",
        .choices = {"device", "host"},
        .description = "where the training images are; host: each batch is loaded ahead of its step"},
       {.name = "workers",
        .default_value = "2",
        .min = 1,
        .max = 16,
        .description = "threads per device that load batches; of input = host"},
       {.name = "shuffle",
        .kind = Parameter::Kind::choice,
        .default_value = "on",
        .choices = {"on", "off"},
        .description = "shuffle the images in each epoch, or keep the order of the file"}});
}

}  // namespace league::cnn
