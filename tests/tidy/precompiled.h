// What most tests include, for tools/clang_tidy.py: parsed once instead of by each test.

#ifndef JACKDAW_TESTS_TIDY_PRECOMPILED_H_
#define JACKDAW_TESTS_TIDY_PRECOMPILED_H_

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/time.h"

#endif  // JACKDAW_TESTS_TIDY_PRECOMPILED_H_
