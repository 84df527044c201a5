// Reads Configuration files for tests.
#pragma once

#include <gtest/gtest.h>

#include <string>

#include "api/config/configuration.h"

namespace berth::api::config::testing_support {

inline const std::string kHead = "apiVersion: config.kueue.x-k8s.io/v1beta2\nkind: Configuration\n";
inline const std::string kOldHead = "apiVersion: config.kueue.x-k8s.io/v1beta1\nkind: Configuration\n";

inline Configuration read(const std::string& yaml) {
  auto out = read_configuration(yaml, "config.yaml");
  EXPECT_TRUE(out) << out.error().message;
  return out ? *out : Configuration();
}

inline std::string error_of(const std::string& yaml) {
  const auto out = read_configuration(yaml, "config.yaml");
  return out ? std::string() : out.error().message;
}

}  // namespace berth::api::config::testing_support
