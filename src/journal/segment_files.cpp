#include "journal/segment_files.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <optional>
#include <utility>

namespace berth::journal {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kEnding = ".journal";
constexpr std::size_t kDigits = 12;  // of a segment's number

// "2026-11-23T17:05:00Z" without hyphens and colons.
std::string short_time(Time time) {
  std::string text = format_time(time);
  std::erase_if(text, [](char c) { return c == '-' || c == ':'; });
  return text;
}

std::optional<Time> read_short_time(std::string_view text) {
  if (text.size() != 16) return std::nullopt;
  std::string full(text);
  for (const std::size_t at : {13, 11}) full.insert(at, ":");
  for (const std::size_t at : {6, 4}) full.insert(at, "-");
  const auto time = parse_time(full);
  return time ? std::optional(*time) : std::nullopt;
}

std::string name_of(std::uint64_t number, Time began) {
  char digits[32];
  std::snprintf(digits, sizeof digits, "%012llu", static_cast<unsigned long long>(number));
  return digits + ("-" + short_time(began)) + std::string(kEnding);
}

std::optional<SegmentFile> read_name(const std::string& name) {
  SegmentFile out;
  if (!name.ends_with(kEnding) || name.size() < kDigits + 1 + kEnding.size() || name[kDigits] != '-')
    return std::nullopt;
  const auto [end, error] = std::from_chars(name.data(), name.data() + kDigits, out.number);
  const auto began =
      read_short_time(std::string_view(name).substr(kDigits + 1, name.size() - kDigits - 1 - kEnding.size()));
  if (error != std::errc() || end != name.data() + kDigits || !began) return std::nullopt;
  out.began = *began;
  return out;
}

}  // namespace

Result<std::vector<SegmentFile>> list_segments(const std::string& directory) {
  std::error_code error;
  std::vector<SegmentFile> out;
  for (fs::directory_iterator it(directory, error), end; !error && it != end; it.increment(error)) {
    auto segment = read_name(it->path().filename().string());
    std::error_code ignored;
    if (!segment || !it->is_regular_file(ignored)) continue;
    segment->path = it->path().string();
    segment->size = it->file_size(ignored);
    if (!ignored) out.push_back(std::move(*segment));
  }
  if (error) return fail("the journal " + directory + " cannot be read: " + error.message());
  std::ranges::sort(out, {}, &SegmentFile::number);
  return out;
}

SegmentFiles::SegmentFiles(std::string directory, FileLimits limits)
    : directory_(std::move(directory)), limits_(limits) {}

SegmentFiles::~SegmentFiles() {
  abandon();
  if (lock_ >= 0) ::close(lock_);
}

Result<void> SegmentFiles::open_directory() {
  if (lock_ >= 0) return {};
  const auto failed = [&](const std::string& why) { return fail("the journal " + directory_ + " " + why); };
  std::error_code error;
  const bool fresh = fs::create_directories(directory_, error);
  if (error) return failed("cannot be made: " + error.message());
  if (fresh) ::chmod(directory_.c_str(), S_IRWXU);
  const int lock = ::open((directory_ + "/lock").c_str(), O_RDWR | O_CREAT | O_CLOEXEC, S_IRUSR | S_IWUSR);
  if (lock < 0) return failed(std::string("cannot be written: ") + std::strerror(errno));
  if (::flock(lock, LOCK_EX | LOCK_NB) != 0) {
    ::close(lock);
    return failed("is written by another process");
  }
  auto known = list_segments(directory_);
  if (!known) {
    ::close(lock);
    return tl::unexpected(known.error());
  }
  lock_ = lock;
  older_ = std::move(*known);
  for (const auto& segment : older_) older_size_ += segment.size;
  last_number_ = older_.empty() ? 0 : older_.back().number;
  return {};
}

void SegmentFiles::drop_oldest() {
  ::unlink(older_.front().path.c_str());
  older_size_ -= older_.front().size;
  older_.erase(older_.begin());
}

Result<void> SegmentFiles::make_room(std::uint64_t bytes) {
  while (!older_.empty() && total_size() + bytes > limits_.max_size) drop_oldest();
  if (total_size() + bytes <= limits_.max_size) return {};
  return fail(path_ + " would grow past the limit of " + std::to_string(limits_.max_size) +
              " bytes, and no checkpoint could be made so far");
}

// What is written stays: its end is cut by who reads it.
void SegmentFiles::abandon() {
  if (file_ < 0) return;
  ::close(std::exchange(file_, -1));
  older_.push_back({path_, last_number_, began_, size_});
  older_size_ += std::exchange(size_, 0);
}

Result<void> SegmentFiles::begin(Time now, const std::string& header) {
  if (auto opened = open_directory(); !opened) return opened;
  if (file_ >= 0) {
    if (auto closed = close(); !closed) return closed;
  }
  // A segment ended when the next one began.
  while (older_.size() > 1 && older_[1].began < now - limits_.max_age) drop_oldest();
  path_ = directory_ + "/" + name_of(++last_number_, now);
  began_ = now;
  file_ = ::open(path_.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, S_IRUSR | S_IWUSR);
  if (file_ < 0) return fail(path_ + " cannot be made: " + std::strerror(errno));
  if (auto written = write(signature()); !written) return written;
  return append(header);
}

Result<void> SegmentFiles::append(const std::string& records) {
  if (file_ < 0) return fail("no segment is open");
  auto chunk = chunks_.chunk(records, size_);
  if (!chunk) {
    abandon();
    return tl::unexpected(chunk.error());
  }
  return write(*chunk);
}

Result<void> SegmentFiles::close() {
  if (file_ < 0) return {};
  auto written = append("");
  abandon();
  return written;
}

Result<void> SegmentFiles::write(const std::string& bytes) {
  if (auto room = make_room(bytes.size()); !room) {
    abandon();
    return room;
  }
  for (std::size_t done = 0; done < bytes.size();) {
    const ssize_t n = ::write(file_, bytes.data() + done, bytes.size() - done);
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) {
      const std::string why = std::strerror(n == 0 ? ENOSPC : errno);
      // Give the space back: a part of a chunk is of no use.
      if (::ftruncate(file_, static_cast<off_t>(size_)) != 0) size_ += done;
      abandon();
      return fail(path_ + " cannot be written: " + why);
    }
    done += static_cast<std::size_t>(n);
  }
  size_ += bytes.size();
  return {};
}

}  // namespace berth::journal
