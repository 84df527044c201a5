// The console's page: files that are compiled into the program. There is no file system behind them.
#pragma once

#include <map>
#include <span>
#include <string>
#include <string_view>

#include "base/embedded.h"
#include "http/message.h"

namespace berth::console {

class StaticFiles {
 public:
  // Names as in embedded::console(). The bytes must outlive this object.
  explicit StaticFiles(std::span<const embedded::File> files);

  // The answer to GET `path` (decoded): a file, or index.html for a path that has no file and is not below /assets/,
  // because the page makes its own paths. `gzip`: the client accepts compressed answers. From any thread.
  http::HttpResponse answer(std::string_view path, bool gzip) const;

 private:
  std::map<std::string, std::string_view, std::less<>> files_;
};

}  // namespace berth::console
