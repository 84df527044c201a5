// Small helpers for tests of the API server.
#pragma once

#include <gtest/gtest.h>

#include <string_view>

#include "base/json.h"

namespace berth::apiserver {

inline Json json(std::string_view text) {
  auto parsed = parse_json(text);
  if (!parsed) ADD_FAILURE() << parsed.error().message << "\n" << text;
  return parsed ? *parsed : Json();
}

}  // namespace berth::apiserver
