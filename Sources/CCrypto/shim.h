#pragma once
// Import SwiftGlibc first, so that types that both define, such as tm, always come from that module.
#pragma clang module import SwiftGlibc
#include <openssl/bio.h>
#include <openssl/crypto.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>
#include <openssl/pem.h>
#include <openssl/rand.h>
#include <openssl/x509.h>
