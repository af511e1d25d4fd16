// Checks that a call throws the library's Error with the right code and message.
#pragma once

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "clearformer/tensor/error.h"
#include "support/closeness.h"

namespace clearformer::test {

/// `call` must throw an Error of `code` whose message contains all `parts`.
template <class Call>
void expect_error(ErrorCode code, const std::vector<std::string>& parts, Call&& call,
                  Place place = Place::here()) {
  try {
    call();
  } catch (const Error& error) {
    const std::string message = error.what();
    if (error.code() != code) {
      ADD_FAILURE_AT(place.file, place.line) << "code " << to_string(error.code()) << ", expected "
                                             << to_string(code) << "; message: " << message;
    }
    for (const std::string& part : parts) {
      if (message.find(part) != std::string::npos) continue;
      ADD_FAILURE_AT(place.file, place.line) << "\"" << part << "\" is not in: " << message;
    }
    return;
  }
  ADD_FAILURE_AT(place.file, place.line) << "no error, expected " << to_string(code);
}

}  // namespace clearformer::test
