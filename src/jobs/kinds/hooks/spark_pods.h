// The pods that Spark makes for a driver or an executor, as pod templates.
// https://spark.apache.org/docs/latest/running-on-kubernetes.html
#pragma once

#include <cstdint>
#include <string_view>

#include "api/field_error.h"
#include "base/json.h"

namespace berth::jobs::kinds {

struct SparkRole {
  std::string_view name;       // of the pod set, and of its section below spec
  std::string_view container;  // that runs Spark
};
inline constexpr SparkRole kSparkDriver{"driver", "spark-kubernetes-driver"};
inline constexpr SparkRole kSparkExecutor{"executor", "spark-kubernetes-executor"};

// The template of the pods of a role, with what an admission wrote. Appends an error for each amount that cannot be
// read.
Json spark_pod_template(const Json& application, const SparkRole& role, api::FieldErrors& errors);

// The template that says nothing.
Json empty_spark_template(const SparkRole& role);

// Reads an amount of memory as Java writes it ("512m", "2g", "1024": MiB without a unit), in MiB, rounded down.
Result<std::int64_t> java_mebibytes(std::string_view text);

}  // namespace berth::jobs::kinds
