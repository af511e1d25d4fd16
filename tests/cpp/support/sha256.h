// SHA-256 (FIPS 180-4), to compare results with digests that other programs recorded.
#pragma once

#include <cstddef>
#include <string>

namespace clearformer::test {

/// The digest of `count` bytes in hexadecimal.
std::string sha256(const void* bytes, std::size_t count);

}  // namespace clearformer::test
