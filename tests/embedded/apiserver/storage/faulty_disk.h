// A disk in memory, as a VFS of SQLite, with the faults of real ones: writes that fail, syncs that fail and lose what
// they should have stored, power cuts that lose or tear whatever was not synced, in any order.
#pragma once

#include <sqlite3.h>

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

namespace berth::apiserver {

class FaultyDisk {
 public:
  explicit FaultyDisk(std::uint64_t seed);
  ~FaultyDisk();
  FaultyDisk(const FaultyDisk&) = delete;
  FaultyDisk& operator=(const FaultyDisk&) = delete;

  const std::string& vfs() const { return name_; }

  struct Faults {
    std::uint32_t full = 0, write = 0, sync = 0, read = 0;  // of a thousand calls, so many fail
  };
  void set(Faults faults);
  // After so many more calls that change something the disk does nothing any more, and every call fails.
  void stop_after(std::uint64_t calls);
  bool stopped() const;
  // The process is gone, its files are closed, and the disk works again, with what the system's cache holds.
  void start_again();
  // The same after a power cut: what was not synced is there, is not, or is there in part.
  void start_after_power_cut();

  // What the system shows: by file.
  std::map<std::string, std::string> files() const;
  void restore(const std::map<std::string, std::string>& files);

  struct File {
    struct Change {
      std::size_t at = 0;
      std::string bytes;
      bool truncates = false;  // to `at`
    };
    std::string shown, stored;
    std::vector<Change> unsynced;
    bool entry_stored = false;     // the directory on disk names it
    bool syncs_directory = false;  // with its first sync, as SQLite does for new journals and WALs
  };

 private:
  friend struct FaultyDiskVfs;
  bool chance(std::uint32_t of_thousand);
  bool lets_change();  // false: the disk has stopped
  int write(File& file, const void* bytes, std::size_t size, std::size_t at);
  int sync(File& file);
  void apply(std::string& content, const File::Change& change, bool tear);

  mutable std::mutex mutex_;
  std::string name_;
  sqlite3_vfs vfs_{};
  std::uint64_t random_;
  Faults faults_;
  std::uint64_t calls_left_ = ~std::uint64_t{0};
  bool stopped_ = false;
  std::map<std::string, std::shared_ptr<File>> files_;
  std::map<std::string, std::shared_ptr<File>> removed_;  // the directory on disk may still name them
};

}  // namespace berth::apiserver
