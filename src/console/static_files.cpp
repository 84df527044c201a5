#include "console/static_files.h"

#include <utility>

#include "console/replies.h"

namespace berth::console {
namespace {

constexpr std::string_view kIndex = "index.html";
constexpr std::string_view kAssets = "assets/";

std::string_view type_of(std::string_view name) {
  static constexpr std::pair<std::string_view, std::string_view> kTypes[] = {{".html", "text/html; charset=utf-8"},
                                                                             {".js", "text/javascript; charset=utf-8"},
                                                                             {".css", "text/css; charset=utf-8"},
                                                                             {".svg", "image/svg+xml"},
                                                                             {".png", "image/png"},
                                                                             {".ico", "image/x-icon"},
                                                                             {".json", "application/json"},
                                                                             {".woff2", "font/woff2"},
                                                                             {".txt", "text/plain; charset=utf-8"}};
  for (const auto& [ending, type] : kTypes) {
    if (name.ends_with(ending)) return type;
  }
  return "application/octet-stream";
}

http::HttpResponse no_file(std::string why) { return reply(404, "text/plain; charset=utf-8", std::move(why)); }

}  // namespace

StaticFiles::StaticFiles(std::span<const embedded::File> files) {
  for (const auto& file : files) files_.emplace(file.name, file.content);
}

http::HttpResponse StaticFiles::answer(std::string_view path, bool gzip) const {
  std::string_view name = path.substr(path.starts_with('/') ? 1 : 0);
  const bool asset = name.starts_with(kAssets);
  if (!files_.contains(kIndex)) {
    return no_file(
        "This program was built without the console's page. Build it with -DBERTH_CONSOLE=ON, which needs "
        "Node and npm.\n");
  }
  if (name.empty() || name.ends_with(".gz") || !files_.contains(name)) {
    if (asset) return no_file("there is no such file\n");
    name = kIndex;
  }
  http::HttpResponse out;
  out.headers = common_headers();
  out.headers.push_back({"Content-Type", std::string(type_of(name))});
  out.headers.push_back({"Cache-Control", asset ? "public, max-age=31536000, immutable" : "no-store"});
  const auto compressed = files_.find(std::string(name) + ".gz");
  if (compressed != files_.end()) out.headers.push_back({"Vary", "Accept-Encoding"});
  if (gzip && compressed != files_.end()) {
    out.headers.push_back({"Content-Encoding", "gzip"});
    out.body = compressed->second;
  } else {
    out.body = files_.find(name)->second;
  }
  return out;
}

}  // namespace berth::console
