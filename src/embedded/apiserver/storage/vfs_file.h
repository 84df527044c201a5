// A file that is read and written through SQLite's layer for the operating system (a VFS), as SQLite's own files are:
// so a VFS of a test sees it too.
#pragma once

#include <sqlite3.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

#include "base/result.h"

namespace berth::apiserver {

class VfsFile {
 public:
  enum class Kind : std::uint8_t {
    kExisting,  // must exist
    kCreated    // is created, with the rights of the state file beside it, and the directory is synced with it
  };
  // `vfs` names the VFS; empty: SQLite's default.
  static Result<VfsFile> open(const std::string& path, Kind kind, const std::string& vfs);

  Result<std::int64_t> size() const;
  Result<std::string> read(std::int64_t at, std::size_t bytes) const;  // all of them must be there
  Result<void> write(std::int64_t at, const std::string& bytes);
  Result<void> sync();  // what was written survives a power cut from now on

 private:
  // SQLite wants the memory of an open file to stay where it is, and the name as long as the file is open.
  struct Open {
    explicit Open(const std::string& path) : name(path + std::string(3, '\0')) {}
    Open(const Open&) = delete;
    Open& operator=(const Open&) = delete;
    ~Open();
    std::string name;  // ends with the empty list of parameters that SQLite expects behind a name
    std::unique_ptr<std::byte[]> memory;
    sqlite3_file* file() const { return reinterpret_cast<sqlite3_file*>(memory.get()); }
  };
  explicit VfsFile(std::unique_ptr<Open> open) : open_(std::move(open)) {}
  tl::unexpected<Error> failed(const char* what, int code) const;

  std::unique_ptr<Open> open_;
};

// Whether the file exists.
bool vfs_file_exists(const std::string& path, const std::string& vfs);

// Writes the bytes of a file to their own places again and syncs it, if it exists. What a process wrote before it was
// killed, or before its sync failed, may be in the system's cache and not on disk, and then no later sync would write
// it. Afterwards what is read is on disk.
Result<void> write_again(const std::string& path, const std::string& vfs);

}  // namespace berth::apiserver
