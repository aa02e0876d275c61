// UniqueFd: owns a file descriptor and closes it once.
//
// Thread safety: none.

#ifndef JACKDAW_SCHEDULER_BASE_UNIQUE_FD_H_
#define JACKDAW_SCHEDULER_BASE_UNIQUE_FD_H_

#include <unistd.h>

#include <utility>

namespace jackdaw {

class UniqueFd {
 public:
  UniqueFd() = default;
  explicit UniqueFd(int fd) : fd_(fd) {}
  UniqueFd(UniqueFd&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
  UniqueFd& operator=(UniqueFd&& other) noexcept {
    std::swap(fd_, other.fd_);
    return *this;
  }
  ~UniqueFd() { Close(); }

  [[nodiscard]] int get() const { return fd_; }  // -1: none.
  [[nodiscard]] bool valid() const { return fd_ >= 0; }
  void Close() {
    if (fd_ >= 0) close(std::exchange(fd_, -1));
  }

 private:
  int fd_ = -1;
};

}  // namespace jackdaw

#endif  // JACKDAW_SCHEDULER_BASE_UNIQUE_FD_H_
