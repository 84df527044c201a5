// The definition of a kind of job that only tests have.
#pragma once

#include <string_view>

namespace berth::controller {

inline constexpr std::string_view kSweepDefinition = R"(
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: sweeps.sweeps.example.org}
spec:
  group: sweeps.example.org
  scope: Namespaced
  names: {kind: Sweep, listKind: SweepList, plural: sweeps, singular: sweep}
  versions:
    - name: v1
      served: true
      storage: true
      subresources: {status: {}}
      schema: {openAPIV3Schema: {type: object, x-kubernetes-preserve-unknown-fields: true}}
)";

}  // namespace berth::controller
