// One test of a model. The file of a model is compiled once against the real header and once
// against each mutant of it (see mutants.cmake): the model must pass on the first and fail on
// every other, or it proves nothing.

#ifndef JACKDAW_TESTS_MODEL_MODEL_TEST_H_
#define JACKDAW_TESTS_MODEL_MODEL_TEST_H_

#include <string>

#include "gtest/gtest.h"

#ifndef JACKDAW_MUTANT
#define JACKDAW_MODEL_CASE HoldsInEveryExecution
#define JACKDAW_MODEL_HOLDS true
#else
#define JACKDAW_MODEL_CASE JACKDAW_MUTANT
#define JACKDAW_MODEL_HOLDS false
#endif

#define JACKDAW_MODEL_TEST_EXPANDED(suite, name) TEST(suite, name)
#define JACKDAW_MODEL_TEST(suite) JACKDAW_MODEL_TEST_EXPANDED(suite, JACKDAW_MODEL_CASE)

#endif  // JACKDAW_TESTS_MODEL_MODEL_TEST_H_
