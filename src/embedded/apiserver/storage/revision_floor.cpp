#include "embedded/apiserver/storage/revision_floor.h"

#include <cstdio>
#include <utility>

#include "base/checksum.h"

namespace berth::apiserver {
namespace {

// Two copies, in sectors of their own, written in turn: a torn write or a damaged byte leaves the other one.
constexpr std::size_t kCopies = 2;
constexpr std::int64_t kDistance = 4'096;
constexpr std::size_t kLength = 64;

std::string copy_of(Revision revision) {
  char text[kLength + 1];
  std::snprintf(text, sizeof text, "revision %019lld checksum %016llx\n", static_cast<long long>(revision),
                static_cast<unsigned long long>(Checksum().add(static_cast<std::uint64_t>(revision)).value()));
  std::string out(text);
  out.resize(kLength, '\n');
  return out;
}

// 0 when the text is no copy.
Revision read_copy(const std::string& text) {
  long long revision = 0;
  if (std::sscanf(text.c_str(), "revision %19lld", &revision) != 1 || revision < 0) return 0;
  return text == copy_of(revision) ? revision : 0;
}

}  // namespace

Result<RevisionFloor> RevisionFloor::open(const std::string& path, VfsFile::Kind kind, const std::string& vfs) {
  auto file = VfsFile::open(path, kind, vfs);
  if (!file) return tl::unexpected(file.error());
  RevisionFloor out(std::move(*file));
  const auto size = out.file_.size();
  if (!size) return tl::unexpected(size.error());
  for (std::size_t i = 0; i < kCopies; ++i) {
    const std::int64_t at = static_cast<std::int64_t>(i) * kDistance;
    if (at + static_cast<std::int64_t>(kLength) > *size) break;
    const auto text = out.file_.read(at, kLength);
    if (!text) return tl::unexpected(text.error());
    const Revision revision = read_copy(*text);
    if (revision > out.value_) {
      out.value_ = revision;
      out.next_ = (i + 1) % kCopies;
    }
  }
  out.damaged_ = *size > 0 && out.value_ == 0;
  return out;
}

Result<void> RevisionFloor::raise(Revision revision) {
  if (revision <= value_) return {};
  synced_ = false;
  if (auto written = file_.write(static_cast<std::int64_t>(next_) * kDistance, copy_of(revision)); !written)
    return written;
  value_ = revision;
  next_ = (next_ + 1) % kCopies;
  return {};
}

Result<void> RevisionFloor::sync() {
  if (synced_) return {};
  if (auto done = file_.sync(); !done) return done;
  synced_ = true;
  return {};
}

}  // namespace berth::apiserver
