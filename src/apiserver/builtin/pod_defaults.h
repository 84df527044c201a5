// Defaults of pods and pod templates that depend on other fields. Constant ones are in pod.yaml.
#pragma once

#include <string_view>

#include "base/json.h"

namespace berth::apiserver {

// Of every pod specification, also inside of templates: imagePullPolicy by the image's tag, an emptyDir for
// volumes without a source, serviceAccount as the other name of serviceAccountName.
void default_pod_spec(Json& spec);
// Of pods alone: requests from limits, enableServiceLinks, host ports on the host's network.
void default_pod(Json& spec);

// "Always" for images without a tag and digest or with the tag latest, else "IfNotPresent".
std::string_view default_pull_policy(std::string_view image);

}  // namespace berth::apiserver
