// The data directory of one running server: created with mode 0700, and locked during the lifetime of this object.
#pragma once

#include <string>

#include "base/result.h"

namespace berth::cli {

class DataDir {
 public:
  // An error names the directory and the reason: it is not writable, or another server uses it (with its process ID).
  static Result<DataDir> open(const std::string& path);
  DataDir(DataDir&& other) noexcept;
  DataDir& operator=(DataDir&&) = delete;
  ~DataDir();

  const std::string& path() const { return path_; }

 private:
  DataDir(std::string path, int lock) : path_(std::move(path)), lock_(lock) {}
  std::string path_;
  int lock_ = -1;
};

// $XDG_DATA_HOME/berth, else ~/.local/share/berth, else ./berth-data.
std::string default_data_dir();

}  // namespace berth::cli
