// The metrics of the store of `berth up`.
#pragma once

#include "base/metrics.h"
#include "embedded/apiserver/server/api_server.h"

namespace berth::cli {

class StoreMetrics {
 public:
  explicit StoreMetrics(Metrics& metrics)
      : revision_(metrics.gauge("berth_store_revision", "The newest revision of the store.")),
        failing_(metrics.gauge("berth_store_failing", "1 while writes cannot be made durable, else 0.")),
        failures_(metrics.gauge("berth_store_failures", "How often writes began to fail.")) {}

  void set(const apiserver::ApiServer& server) {
    revision_.set({}, static_cast<double>(server.revision()));
    failing_.set({}, server.storage_problem().empty() ? 0 : 1);
    failures_.set({}, static_cast<double>(server.storage_failures()));
  }

 private:
  GaugeFamily revision_, failing_, failures_;
};

}  // namespace berth::cli
