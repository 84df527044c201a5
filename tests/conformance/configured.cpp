#include "conformance/configured.h"

#include <stdexcept>

#include "controller/configure.h"
#include "controller/feature_gates.h"

namespace berth::conformance {
namespace {

// Kueue 0.20 brought these gates and switched them on; the recordings are older.
constexpr const char* kNewerGates[] = {"AdmissionFairSharingAnchorAtQuotaReservation", "DeploymentJobUIDLabel",
                                       "RayServiceValidateUpgradeStrategy"};

}  // namespace

controller::ControllerOptions configured(const SiteOptions& options) {
  Json document = JsonObject{{"apiVersion", "config.kueue.x-k8s.io/v1beta2"}, {"kind", "Configuration"}};
  if (options.configuration.is_object()) {
    for (const auto& [key, value] : options.configuration.get_object()) document.as_object()[key] = value;
  }
  const auto configuration = api::config::decode_configuration(document, "the recording's configuration");
  if (!configuration) throw std::runtime_error(configuration.error().message);
  controller::FeatureGates gates;
  if (!options.gates.is_null()) {
    auto read = controller::decode_feature_gates(options.gates, "gates");
    if (!read) throw std::runtime_error(read.error().message);
    gates = std::move(*read);
  }
  for (const char* gate : kNewerGates) gates.emplace(gate, false);
  auto made = controller::controller_options(*configuration, gates);
  if (!made) throw std::runtime_error(made.error().message);
  return std::move(*made);
}

}  // namespace berth::conformance
