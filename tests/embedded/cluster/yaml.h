// Objects that tests write as YAML.
#pragma once

#include <gtest/gtest.h>

#include <string_view>
#include <utility>

#include "base/json.h"
#include "base/yaml.h"

namespace berth::cluster::testing_support {

// One document; anything else fails the test and gives null.
inline Json yaml(std::string_view text) {
  auto documents = parse_yaml(text);
  if (!documents || documents->size() != 1) {
    ADD_FAILURE() << "test YAML cannot be read: " << text;
    return nullptr;
  }
  return std::move(documents->front());
}

}  // namespace berth::cluster::testing_support
