#include "embedded/apiserver/storage/vfs_file.h"

#include <algorithm>
#include <utility>

namespace berth::apiserver {
namespace {

constexpr std::int64_t kPiece = 64 << 10;  // SQLite takes less than 128 KiB at once

sqlite3_vfs* find_vfs(const std::string& name) { return sqlite3_vfs_find(name.empty() ? nullptr : name.c_str()); }

}  // namespace

VfsFile::Open::~Open() {
  if (memory != nullptr && file()->pMethods != nullptr) file()->pMethods->xClose(file());
}

Result<VfsFile> VfsFile::open(const std::string& path, Kind kind, const std::string& vfs) {
  sqlite3_vfs* system = find_vfs(vfs);
  if (system == nullptr) return fail("SQLite has no VFS '" + vfs + "'");
  auto open = std::make_unique<Open>(path);
  open->memory = std::make_unique<std::byte[]>(static_cast<std::size_t>(system->szOsFile));
  VfsFile out(std::move(open));
  // SQLite gives a new journal the rights of the state file, and syncs the directory with it. A super-journal may be
  // there without a state file.
  const int type = kind == Kind::kCreated ? SQLITE_OPEN_MAIN_JOURNAL | SQLITE_OPEN_CREATE : SQLITE_OPEN_SUPER_JOURNAL;
  const int code =
      system->xOpen(system, out.open_->name.c_str(), out.open_->file(), SQLITE_OPEN_READWRITE | type, nullptr);
  if (code != SQLITE_OK) return out.failed("opened", code);
  return out;
}

tl::unexpected<Error> VfsFile::failed(const char* what, int code) const {
  return fail("file '" + std::string(open_->name.c_str()) + "' cannot be " + what + ": " + sqlite3_errstr(code));
}

Result<std::int64_t> VfsFile::size() const {
  sqlite3_int64 size = 0;
  const int code = open_->file()->pMethods->xFileSize(open_->file(), &size);
  if (code != SQLITE_OK) return failed("read", code);
  return size;
}

Result<std::string> VfsFile::read(std::int64_t at, std::size_t bytes) const {
  std::string out(bytes, '\0');
  const int code = open_->file()->pMethods->xRead(open_->file(), out.data(), static_cast<int>(bytes), at);
  if (code != SQLITE_OK) return failed("read", code);
  return out;
}

Result<void> VfsFile::write(std::int64_t at, const std::string& bytes) {
  const int code = open_->file()->pMethods->xWrite(open_->file(), bytes.data(), static_cast<int>(bytes.size()), at);
  if (code != SQLITE_OK) return failed("written", code);
  return {};
}

Result<void> VfsFile::sync() {
  const int code = open_->file()->pMethods->xSync(open_->file(), SQLITE_SYNC_NORMAL);
  if (code != SQLITE_OK) return failed("synced", code);
  return {};
}

bool vfs_file_exists(const std::string& path, const std::string& vfs) {
  sqlite3_vfs* system = find_vfs(vfs);
  int exists = 0;
  return system != nullptr && system->xAccess(system, path.c_str(), SQLITE_ACCESS_EXISTS, &exists) == SQLITE_OK &&
         exists != 0;
}

Result<void> write_again(const std::string& path, const std::string& vfs) {
  if (!vfs_file_exists(path, vfs)) return {};
  auto file = VfsFile::open(path, VfsFile::Kind::kExisting, vfs);
  if (!file) return tl::unexpected(file.error());
  const auto size = file->size();
  if (!size) return tl::unexpected(size.error());
  for (std::int64_t at = 0; at < *size; at += kPiece) {
    const auto piece = file->read(at, static_cast<std::size_t>(std::min(kPiece, *size - at)));
    if (!piece) return tl::unexpected(piece.error());
    if (auto written = file->write(at, *piece); !written) return written;
  }
  return file->sync();
}

}  // namespace berth::apiserver
