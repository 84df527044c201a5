// Labels of metrics, put together.
#pragma once

#include "base/metrics.h"

namespace berth::controller {

inline MetricLabels joined(MetricLabels labels, const MetricLabels& more) {
  labels.insert(labels.end(), more.begin(), more.end());
  return labels;
}

}  // namespace berth::controller
