// Whether a description fits the kind as an API server serves it, judged by the server's OpenAPI v3 documents.
// https://kubernetes.io/docs/concepts/overview/kubernetes-api/#openapi-v3
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/json.h"
#include "jobs/kinds/job_kind.h"

namespace berth::jobs::kinds {

struct Fit {
  enum class State : std::uint8_t {
    kUnknown,       // the server does not say
    kFits,          // all paths and expressions have the types of the schema
    kInPart,        // the paths do, but not all expressions: jobs that these fail on say so
    kMisfit,        // a path that Berth writes to is not there or has another type: the kind cannot be managed
    kOtherVersion,  // the kind is served, but not in the version of the description
    kAbsent,        // the kind is not served
  };
  State state = State::kUnknown;
  // kInPart, kMisfit: one line per mistake, as "file:12: spec.suspend: what was expected". kOtherVersion: the versions
  // that are served.
  std::vector<std::string> notes;
  bool operator==(const Fit&) const = default;

  // True when jobs of the kind may be managed.
  bool usable() const { return state == State::kUnknown || state == State::kFits || state == State::kInPart; }
};

// The addresses of the documents of a group by version, from the document /openapi/v3.
std::map<std::string, std::string> documents_of_group(const Json& index, std::string_view group);

// The schema of the kind in the document of a group and version; null when it has none.
const Json* schema_in_document(const Json& document, std::string_view group, std::string_view kind);

// Compares the description with the schema of its version.
Fit compare(const JobKindSpec& kind, const Json& schema);

}  // namespace berth::jobs::kinds
