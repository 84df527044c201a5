// Bounds of the server. Those of requests in flight are kube-apiserver's; the others keep one client from
// filling the memory or holding up the others.
#pragma once

#include <chrono>
#include <cstddef>

namespace berth::http {

// Connections. Above the first limit new ones wait in the listen backlog until one closes; those of one
// machine above its share wait, accepted and not read from, until one of that machine's closes.
inline constexpr std::size_t kMaxConnections = 1'000;
inline constexpr std::size_t kMaxConnectionsPerPeer =
    200;  // not of loopback addresses: all local clients share them
inline constexpr std::size_t kMaxParkedConnections =
    1'000;  // those above a share, of all machines; more are closed

// Requests.
inline constexpr std::size_t kMaxHeaderBytes = 16 * 1024;
// A body that is refused is read and thrown away up to here, so that the client reads why; more is broken
// off.
inline constexpr std::size_t kMaxDrainBytes = 16u << 20;
inline constexpr int kMaxReadsInFlight = 400;
inline constexpr int kMaxWritesInFlight = 200;
// What one connection may have of each of the two, so that no connection takes all; a group commit takes 64
// writes.
inline constexpr int kMaxInFlightPerConnection = 100;

// Watches.
inline constexpr std::size_t kMaxWatchBacklogBytes =
    4u << 20;  // a watcher that lags behind more loses its watch
inline constexpr std::size_t kMaxWatchBacklogEvents = 1'000;
inline constexpr std::size_t kPauseWatchBytes = 512u
                                                << 10;  // the handler of a watch is asked to wait above these
inline constexpr std::size_t kPauseWatchEvents = 256;

// Times.
inline constexpr std::chrono::seconds kHandshakeTimeout{10};
inline constexpr std::chrono::seconds kIdleTimeout{90};  // between requests of a connection
inline constexpr std::chrono::seconds kHeaderTimeout{
    10};  // from a request's first byte to the end of its header
inline constexpr std::chrono::seconds kBodyTimeout{60};
inline constexpr std::chrono::seconds kTurnTimeout{
    10};  // of a request that waits while too many are in flight; then 429
inline constexpr std::chrono::seconds kWriteTimeout{30};  // of one answer, or one batch of events

// HTTP/2. A connection holds at most kMaxStreams bodies of kStreamWindow and kMaxLargeBodies of a server's
// limit.
inline constexpr std::size_t kMaxStreams = 250;  // open at a time on one connection; more wait at the client
inline constexpr std::size_t kStreamWindow = 32 * 1024;  // what a body may send without being asked to go on
inline constexpr std::size_t kConnectionWindow = 1u << 20;  // what may be on its way of all bodies
inline constexpr int kMaxLargeBodies = 4;                   // larger than kStreamWindow, received at a time
inline constexpr std::size_t kMaxQueuedFrames =
    1'000;  // that wait to be sent; until some are, nothing is read
inline constexpr std::size_t kProgressBytes =
    64 * 1024;  // each so many bytes of an answer are given kWriteTimeout
// Streams that end before their answer, and frames that move nothing (PING, SETTINGS, PRIORITY,
// WINDOW_UPDATE, empty DATA): at once, and per second. A client may cancel all its streams twice; more is an
// attack, and the connection ends with ENHANCE_YOUR_CALM.
inline constexpr int kResetBurst = 2 * static_cast<int>(kMaxStreams), kResetsPerSecond = 50;
inline constexpr int kIdleFrameBurst = 2'000, kIdleFramesPerSecond = 200;
inline constexpr int kFramesPerSent = 16;  // WINDOW_UPDATE that one DATA frame sent, or one request, pays for

}  // namespace berth::http
