#include "embedded/apiserver/storage/faulty_disk.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "base/random.h"

namespace berth::apiserver {
namespace {

constexpr std::size_t kSector = 512;

// What SQLite keeps of an open file.
struct OpenFile {
  sqlite3_file base;
  FaultyDisk* disk;
  std::shared_ptr<FaultyDisk::File>* file;
};

FaultyDisk::File& file_of(sqlite3_file* open) { return **reinterpret_cast<OpenFile*>(open)->file; }
FaultyDisk& disk_of(sqlite3_file* open) { return *reinterpret_cast<OpenFile*>(open)->disk; }
FaultyDisk& disk_of(sqlite3_vfs* vfs) { return *static_cast<FaultyDisk*>(vfs->pAppData); }

void put(std::string& content, std::size_t at, std::string_view bytes) {
  if (content.size() < at + bytes.size()) content.resize(at + bytes.size(), '\0');
  content.replace(at, bytes.size(), bytes);
}

}  // namespace

struct FaultyDiskVfs {
  static int close(sqlite3_file* open) {
    delete reinterpret_cast<OpenFile*>(open)->file;
    return SQLITE_OK;
  }
  static int read(sqlite3_file* open, void* to, int size, sqlite3_int64 at) {
    FaultyDisk& disk = disk_of(open);
    const std::lock_guard lock(disk.mutex_);
    if (disk.stopped_ || disk.chance(disk.faults_.read)) return SQLITE_IOERR_READ;
    const std::string& content = file_of(open).shown;
    const auto begin = std::min(static_cast<std::size_t>(at), content.size());
    const auto there = std::min(static_cast<std::size_t>(size), content.size() - begin);
    std::memcpy(to, content.data() + begin, there);
    std::memset(static_cast<char*>(to) + there, 0, static_cast<std::size_t>(size) - there);
    return there == static_cast<std::size_t>(size) ? SQLITE_OK : SQLITE_IOERR_SHORT_READ;
  }
  static int write(sqlite3_file* open, const void* bytes, int size, sqlite3_int64 at) {
    FaultyDisk& disk = disk_of(open);
    const std::lock_guard lock(disk.mutex_);
    return disk.write(file_of(open), bytes, static_cast<std::size_t>(size), static_cast<std::size_t>(at));
  }
  static int truncate(sqlite3_file* open, sqlite3_int64 size) {
    FaultyDisk& disk = disk_of(open);
    const std::lock_guard lock(disk.mutex_);
    if (!disk.lets_change()) return SQLITE_IOERR_TRUNCATE;
    FaultyDisk::File& file = file_of(open);
    file.shown.resize(static_cast<std::size_t>(size), '\0');
    file.unsynced.push_back({static_cast<std::size_t>(size), "", true});
    return SQLITE_OK;
  }
  static int sync(sqlite3_file* open, int) {
    FaultyDisk& disk = disk_of(open);
    const std::lock_guard lock(disk.mutex_);
    return disk.sync(file_of(open));
  }
  static int size(sqlite3_file* open, sqlite3_int64* size) {
    const std::lock_guard lock(disk_of(open).mutex_);
    *size = static_cast<sqlite3_int64>(file_of(open).shown.size());
    return SQLITE_OK;
  }
  static int lock(sqlite3_file*, int) { return SQLITE_OK; }
  static int reserved(sqlite3_file*, int* out) {
    *out = 0;
    return SQLITE_OK;
  }
  static int control(sqlite3_file*, int, void*) { return SQLITE_NOTFOUND; }
  static int sector(sqlite3_file*) { return static_cast<int>(kSector); }
  static int traits(sqlite3_file*) { return SQLITE_IOCAP_POWERSAFE_OVERWRITE; }

  static int open(sqlite3_vfs* vfs, const char* name, sqlite3_file* out, int flags, int* out_flags) {
    static constexpr sqlite3_io_methods kMethods{1,       close,   read,     write,   truncate, sync,   size,
                                                 lock,    lock,    reserved, control, sector,   traits, nullptr,
                                                 nullptr, nullptr, nullptr,  nullptr, nullptr};
    FaultyDisk& disk = disk_of(vfs);
    const std::lock_guard guard(disk.mutex_);
    out->pMethods = nullptr;
    auto file = std::make_shared<FaultyDisk::File>();
    if (name != nullptr) {
      const auto known = disk.files_.find(name);
      if (disk.stopped_ || (known == disk.files_.end() && (flags & SQLITE_OPEN_CREATE) == 0)) return SQLITE_CANTOPEN;
      file->syncs_directory = (flags & (SQLITE_OPEN_MAIN_JOURNAL | SQLITE_OPEN_WAL)) != 0;
      file = known == disk.files_.end() ? disk.files_[name] = file : known->second;
    }
    *reinterpret_cast<OpenFile*>(out) = {{&kMethods}, &disk, new std::shared_ptr<FaultyDisk::File>(std::move(file))};
    if (out_flags != nullptr) *out_flags = flags;
    return SQLITE_OK;
  }
  static int remove(sqlite3_vfs* vfs, const char* name, int sync_directory) {
    FaultyDisk& disk = disk_of(vfs);
    const std::lock_guard guard(disk.mutex_);
    if (!disk.lets_change()) return SQLITE_IOERR_DELETE;
    const auto known = disk.files_.find(name);
    if (known == disk.files_.end()) return SQLITE_IOERR_DELETE_NOENT;
    if (sync_directory == 0 && known->second->entry_stored) disk.removed_[name] = known->second;
    disk.files_.erase(known);
    return SQLITE_OK;
  }
  static int access(sqlite3_vfs* vfs, const char* name, int, int* out) {
    const std::lock_guard guard(disk_of(vfs).mutex_);
    *out = disk_of(vfs).files_.contains(name) ? 1 : 0;
    return SQLITE_OK;
  }
  static int full_path(sqlite3_vfs*, const char* name, int size, char* out) {
    sqlite3_snprintf(size, out, "%s", name);
    return SQLITE_OK;
  }
};

FaultyDisk::FaultyDisk(std::uint64_t seed) : name_("faulty-" + std::to_string(seed)), random_(seed) {
  vfs_ = *sqlite3_vfs_find(nullptr);  // its clock and random numbers
  vfs_.iVersion = 1;
  vfs_.szOsFile = sizeof(OpenFile);
  vfs_.zName = name_.c_str();
  vfs_.pAppData = this;
  vfs_.xOpen = FaultyDiskVfs::open;
  vfs_.xDelete = FaultyDiskVfs::remove;
  vfs_.xAccess = FaultyDiskVfs::access;
  vfs_.xFullPathname = FaultyDiskVfs::full_path;
  vfs_.xGetLastError = nullptr;
  sqlite3_vfs_register(&vfs_, 0);
}

FaultyDisk::~FaultyDisk() { sqlite3_vfs_unregister(&vfs_); }

void FaultyDisk::set(Faults faults) {
  const std::lock_guard lock(mutex_);
  faults_ = faults;
}

void FaultyDisk::stop_after(std::uint64_t calls) {
  const std::lock_guard lock(mutex_);
  calls_left_ = calls;
}

bool FaultyDisk::stopped() const {
  const std::lock_guard lock(mutex_);
  return stopped_;
}

bool FaultyDisk::chance(std::uint32_t of_thousand) {
  return of_thousand > 0 && next_random(random_) % 1'000 < of_thousand;
}

bool FaultyDisk::lets_change() {
  if (calls_left_ == 0) stopped_ = true;
  if (!stopped_) --calls_left_;
  return !stopped_;
}

int FaultyDisk::write(File& file, const void* bytes, std::size_t size, std::size_t at) {
  if (!lets_change()) return SQLITE_IOERR_WRITE;
  const bool full = chance(faults_.full), fails = chance(faults_.write);
  std::string text(static_cast<const char*>(bytes), size);
  if (full || fails) text.resize(next_random(random_) % size);  // the begin of it was written
  put(file.shown, at, text);
  file.unsynced.push_back({at, std::move(text), false});
  return full ? SQLITE_FULL : fails ? SQLITE_IOERR_WRITE : SQLITE_OK;
}

// A sync that fails says nothing of what is on disk, and nothing of it is written later: the system takes it for clean.
int FaultyDisk::sync(File& file) {
  if (!lets_change()) return SQLITE_IOERR_FSYNC;
  const bool fails = chance(faults_.sync);
  for (const File::Change& change : file.unsynced) {
    if (!fails || chance(500)) apply(file.stored, change, fails);
  }
  file.unsynced.clear();
  if (fails) return SQLITE_IOERR_FSYNC;
  file.entry_stored = true;
  if (std::exchange(file.syncs_directory, false)) {
    removed_.clear();
    for (const auto& [name, other] : files_) other->entry_stored = true;
  }
  return SQLITE_OK;
}

// With `tear`, each sector of it may be missing.
void FaultyDisk::apply(std::string& content, const File::Change& change, bool tear) {
  if (change.truncates) return content.resize(change.at, '\0');
  for (std::size_t done = 0; done < change.bytes.size();) {
    const std::size_t at = change.at + done;
    const std::size_t length = std::min(kSector - at % kSector, change.bytes.size() - done);
    if (!tear || chance(700)) put(content, at, std::string_view(change.bytes).substr(done, length));
    done += length;
  }
}

void FaultyDisk::start_again() {
  const std::lock_guard lock(mutex_);
  stopped_ = false;
  calls_left_ = ~std::uint64_t{0};
  faults_ = {};
}

void FaultyDisk::start_after_power_cut() {
  start_again();
  const std::lock_guard lock(mutex_);
  std::erase_if(files_, [this](const auto& entry) { return !entry.second->entry_stored && chance(500); });
  const std::uint32_t kept = static_cast<std::uint32_t>(next_random(random_) % 1'001);
  for (const auto& [name, file] : removed_) {
    if (chance(500)) files_.emplace(name, file);
  }
  removed_.clear();
  for (const auto& [name, file] : files_) {
    for (const File::Change& change : file->unsynced) {
      if (chance(kept)) apply(file->stored, change, chance(300));
    }
    file->unsynced.clear();
    file->shown = file->stored;
    file->entry_stored = true;
  }
}

std::map<std::string, std::string> FaultyDisk::files() const {
  const std::lock_guard lock(mutex_);
  std::map<std::string, std::string> out;
  for (const auto& [name, file] : files_) out[name] = file->shown;
  return out;
}

void FaultyDisk::restore(const std::map<std::string, std::string>& files) {
  const std::lock_guard lock(mutex_);
  files_.clear();
  removed_.clear();
  for (const auto& [name, content] : files) {
    files_[name] = std::make_shared<File>(File{content, content, {}, true, false});
  }
}

}  // namespace berth::apiserver
