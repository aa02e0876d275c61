#include "scheduler/base/bytes.h"

namespace jackdaw {

Bytes::Bytes(std::string data) : block_(data.empty() ? nullptr : new Block(std::move(data))) {}

}  // namespace jackdaw
