// Files that are compiled into the program: CRDs and schemas of built-in kinds.
#pragma once

#include <span>
#include <string_view>

namespace berth::embedded {

struct File {
  std::string_view name;     // path relative to the source tree, e.g. "config/crd/clusterqueues.yaml"
  std::string_view content;  // the file's bytes
};

// Defined by berth_embed() in the CMake file of the source folder that embeds them.
std::span<const File> crds();             // config/crd/*.yaml
std::span<const File> external_crds();    // config/external/*.yaml: definitions that other projects own
std::span<const File> builtin_schemas();  // src/apiserver/builtin/*.yaml
std::span<const File> job_kinds();        // src/jobs/kinds/shipped/*.yaml

}  // namespace berth::embedded
