// Files that are compiled into the program: CRDs, schemas of built-in kinds, the console's page.
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
std::span<const File> builtin_schemas();  // src/embedded/apiserver/builtin/*.yaml
std::span<const File> job_kinds();        // src/jobs/kinds/shipped/*.yaml

// The console's page (library berth_page, cmake/console.cmake). Names are relative to the page's root: "index.html",
// "assets/index-1a2b3c4d.js". Beside a text file may be the same file compressed, "NAME.gz". Empty when the program was
// built without the page.
std::span<const File> console();

}  // namespace berth::embedded
