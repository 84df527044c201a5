// Defaults of pods and pod templates that depend on other fields. Constant defaults are in pod.yaml.
#pragma once

#include <string_view>

#include "base/json.h"

namespace berth::apiserver {

// For every pod spec, also in templates: imagePullPolicy from the image's tag, an emptyDir for volumes without a
// source, serviceAccount as an alias of serviceAccountName.
void default_pod_spec(Json& spec);
// For pods only: requests from limits, enableServiceLinks, host ports with hostNetwork.
void default_pod(Json& spec);

// "Always" for images with the tag latest or with neither tag nor digest, else "IfNotPresent".
std::string_view default_pull_policy(std::string_view image);

}  // namespace berth::apiserver
